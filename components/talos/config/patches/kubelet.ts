import type { ConfigPatch, MachineConfigInput } from "../machineInput.ts";
import { featureGatesArgument } from "./featureGates.ts";

export function kubeletPatches({ network, machine: { kubelet } }: MachineConfigInput): readonly ConfigPatch[] {
  const extraArgs = featureGatesArgument(kubelet.featureGates);
  return [
    {
      machine: {
        kubelet: {
          ...(Object.keys(extraArgs).length > 0 && { extraArgs }),
          // One after another is the kubelet's default.
          ...(!kubelet.serializeImagePulls && { extraConfig: { serializeImagePulls: false } }),
          // A node may have more addresses (public, Tailscale): the kubelet registers the one in the node network.
          nodeIP: { validSubnets: [network.nodeCidr] },
        },
      },
    },
  ];
}
