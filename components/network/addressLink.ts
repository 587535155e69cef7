import type { NetworkSettings } from "../model/settings/network.ts";

interface LinkArgs {
  readonly network: Pick<NetworkSettings, "vlan">;
  readonly image: { readonly kernelArgs: readonly string[] };
}

/** The name in config documents of the NIC with the node's address: kernel names differ from machine to machine. */
export const nicAlias = "net0";

/**
 * The link with the node's address: the NIC, or the VLAN on it if the node itself tags. A VLAN that the node knows before it has a
 * config must keep its name, because the kernel refuses a second one with the same tag: by a kernel argument `vlan=` it is named after the
 * NIC in that argument (nethelpers.VLANLinkName), and META or nocloud must use the name returned here.
 */
export function addressLink({ network: { vlan }, image }: LinkArgs): string {
  if (vlan?.mode !== "trunk") {
    return nicAlias;
  }
  const [, nic = nicAlias] = image.kernelArgs.find((argument) => argument.startsWith("vlan="))?.split(":") ?? [];
  return `${nic}.${vlan.tag}`;
}
