import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/** The cluster's own networks. Cilium comes after bootstrap and replaces kube-proxy, so that Talos installs neither. */
export function clusterNetworkPatches({ network }: MachineConfigInput, { role }: MachineNode): readonly ConfigPatch[] {
  const networks = {
    dnsDomain: network.dnsDomain,
    podSubnets: [network.podCidr],
    serviceSubnets: [network.serviceCidr],
  };
  return role === "controlplane"
    ? [{ cluster: { network: { cni: { name: "none" }, ...networks }, proxy: { disabled: true } } }]
    : [{ cluster: { network: networks } }];
}
