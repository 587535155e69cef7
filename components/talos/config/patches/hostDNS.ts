import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";

/** Talos' own resolver. Written even when off, because the generator turns it on. */
export function hostDNSPatches({ machine: { hostDNS } }: MachineConfigInput): readonly ConfigPatch[] {
  return [
    {
      machine: {
        features: {
          hostDNS: {
            enabled: hostDNS.enabled,
            // Talos refuses forwarding to a resolver that is off.
            forwardKubeDNSToHost: hostDNS.enabled && hostDNS.forwardKubeDNSToHost,
            resolveMemberNames: hostDNS.enabled && hostDNS.resolveMemberNames,
          },
        },
      },
    },
  ];
}
