import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";
import { isContractAtLeast } from "../versions.ts";

/** Name servers instead of those from DHCP or the platform, and no search domain from the hostname. */
export function resolversPatches({ contract, network }: MachineConfigInput): readonly ConfigPatch[] {
  const { nameservers, disableSearchDomain } = network;
  if (nameservers.length === 0 && !disableSearchDomain) {
    return [];
  }
  return isContractAtLeast(contract, 12)
    ? [
        {
          apiVersion: "v1alpha1",
          kind: "ResolverConfig",
          ...(nameservers.length > 0 && { nameservers: nameservers.map((address) => ({ address })) }),
          ...(disableSearchDomain && { searchDomains: { disableDefault: true } }),
        },
      ]
    : [
        {
          machine: {
            network: {
              ...(nameservers.length > 0 && { nameservers }),
              ...(disableSearchDomain && { disableSearchDomain: true }),
            },
          },
        },
      ];
}
