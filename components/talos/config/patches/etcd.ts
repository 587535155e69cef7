import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/** Without it etcd advertises the first routed address, on Hetzner the public one behind the firewall, and no quorum forms. */
export function etcdPatches({ network }: MachineConfigInput, { role }: MachineNode): readonly ConfigPatch[] {
  return role === "controlplane" ? [{ cluster: { etcd: { advertisedSubnets: [network.nodeCidr] } } }] : [];
}
