export interface PlacedNode {
  readonly address: string;
  /** Named by the person. */
  readonly host?: string | undefined;
}

/**
 * The Proxmox host that a VM is made on: the one named, else the hosts in turn by address, so that neighbouring addresses are on different hosts.
 * It follows from the node's own entry, and no node added or removed moves another.
 */
export function vmHost({ address, host }: PlacedNode, hosts: readonly string[]): string {
  const place = address.split(".").reduce((number, octet) => number * 256 + Number(octet), 0) % hosts.length;
  const chosen = host ?? hosts[place];
  if (chosen === undefined) throw new Error("there is no Proxmox host"); // the shape of the config sees to one
  return chosen;
}
