import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { isAtLeast } from "../versions.ts";
import { addressLink, requireMac } from "./nic.ts";

/** The address that the control planes share, held by one of them once etcd runs. Before Talos 1.12 it stands with the interface. */
export function vipPatches(input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  const { platform, network, talosVersion } = input;
  if (network.vip === undefined || network.vipBy !== "talos" || node.role !== "controlplane") {
    return [];
  }
  if (platform === "hetzner") {
    throw new Error("network.vip: Hetzner's private networks do not carry a layer 2 address: use hetzner.loadBalancer");
  }
  requireMac(node, "network.vip");
  return isAtLeast(talosVersion, 12)
    ? [{ apiVersion: "v1alpha1", kind: "Layer2VIPConfig", name: network.vip, link: addressLink(input) }]
    : [];
}
