import { addressLink } from "../../../network/addressLink.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isContractAtLeast } from "../versions.ts";
import { requireMac } from "./nic.ts";

/** The VIP, held by one of the control planes once etcd runs. Before contract v1.12 it is a field of the interface. */
export function vipPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  const { platform, network, contract } = input;
  if (network.vip === undefined || network.vipBy !== "talos" || node.role !== "controlplane") {
    return [];
  }
  if (platform.noSharedAddress !== undefined) throw new Error(`network.vip: ${platform.noSharedAddress.vip}`);
  requireMac(node, "network.vip");
  return isContractAtLeast(contract, 12)
    ? [{ apiVersion: "v1alpha1", kind: "Layer2VIPConfig", name: network.vip, link: addressLink(input) }]
    : [];
}
