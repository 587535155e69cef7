import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isContractAtLeast } from "../versions.ts";
import { isNicKnown, requireMac, staticAddressing } from "./nic.ts";

/** How the node's NIC gets its address and the VIP, before contract v1.12. Only interfaces that are named here do not use the default DHCP. */
export function interfacesPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  const { platform, network, contract } = input;
  if (isContractAtLeast(contract, 12) || platform.nicNames !== undefined) {
    return [];
  }
  const vip = node.role === "controlplane" && network.vipBy === "talos" ? network.vip : undefined;
  const tag = network.vlan?.mode === "trunk" ? network.vlan.tag : undefined;
  if (!isNicKnown(input, node) && network.addressing === "dhcp" && vip === undefined && tag === undefined) {
    return [];
  }
  const bearer = {
    ...(network.addressing === "dhcp" ? { dhcp: true } : fixed(network, node)),
    ...(vip !== undefined && { vip: { ip: vip } }),
  };
  const nic = {
    deviceSelector: { permanentAddr: requireMac(node, "network.addressing, network.vip and network.vlan") },
    ...(tag === undefined ? bearer : { vlans: [{ vlanId: tag, ...bearer }] }),
  };
  return [{ machine: { network: { interfaces: [nic] } } }];
}

function fixed(network: MachineConfigInput["network"], node: MachineNode) {
  const { address, gateway } = staticAddressing(network, node);
  return {
    addresses: [address],
    ...(gateway !== undefined && { routes: [{ network: "0.0.0.0/0", gateway }] }),
  };
}
