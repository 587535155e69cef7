import type { MachineConfigInput, MachineNode } from "../machineInput.ts";

interface LinkArgs {
  readonly network: Pick<MachineConfigInput["network"], "vlan">;
  readonly image: Pick<MachineConfigInput["image"], "kernelArgs">;
}

/** What config documents call the NIC that bears the node's address: kernel names differ from machine to machine. */
export const nicAlias = "net0";

/**
 * The link that bears the node's address: the NIC, or the VLAN on it where the node itself tags. A VLAN that the node knows before it has a
 * config must go on under its name, as the kernel refuses a second one with the same tag: by a kernel argument `vlan=` it is named after the
 * NIC in that argument (nethelpers.VLANLinkName), and META or nocloud are to use the name returned here.
 */
export function addressLink({ network: { vlan }, image }: LinkArgs): string {
  if (vlan?.mode !== "trunk") {
    return nicAlias;
  }
  const [, nic = nicAlias] = image.kernelArgs.find((argument) => argument.startsWith("vlan="))?.split(":") ?? [];
  return `${nic}.${vlan.tag}`;
}

/** Whether the config can say which NIC it means. On Hetzner the names are fixed, elsewhere the MAC address tells. */
export function isNicKnown({ platform }: MachineConfigInput, { mac }: MachineNode): boolean {
  return platform === "hetzner" || mac !== undefined;
}

/** The node's MAC address, which must be known to write what `purpose` says. */
export function requireMac({ name, mac }: MachineNode, purpose: string): string {
  if (mac === undefined) {
    throw new Error(`node '${name}' has no 'mac', by which its NIC is found: it is needed for ${purpose}`);
  }
  return mac;
}

/** What DHCP does not tell the node: its address in the node network and the way out. */
export function staticAddressing({ nodeCidr, gateway }: MachineConfigInput["network"], { address }: MachineNode) {
  const [, prefixLength] = nodeCidr.split("/");
  return { address: `${address}/${prefixLength}`, gateway };
}
