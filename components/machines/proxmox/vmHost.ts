import type { NodeSettings } from "../../model/settings/node.ts";
import type { ProxmoxNodeSettings } from "../../model/settings/proxmox.ts";

type PlacedNode = Pick<NodeSettings, "address"> & Pick<ProxmoxNodeSettings, "host">;

/**
 * The Proxmox host that a VM is created on: the one in its entry, or else the hosts in turn by address, so that neighbouring addresses are on different
 * hosts. It follows from the node's own entry, and adding or removing a node moves no other.
 */
export function vmHost({ address, host }: PlacedNode, hosts: readonly string[]): string {
  const place = address.split(".").reduce((number, octet) => number * 256 + Number(octet), 0) % hosts.length;
  const chosen = host ?? hosts[place];
  if (chosen === undefined) throw new Error("there is no Proxmox host"); // the shape of the config sees to one
  return chosen;
}
