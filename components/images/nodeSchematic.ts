import { prefixLength } from "../network/cidr.ts";
import { addressLink } from "../talos/patches/nic.ts";
import { countedNames, networkKey, platformNetwork } from "./platformNetwork.ts";
import type { Schematic } from "./schematic.ts";

/** The part of the configuration that a node's image follows from. */
export interface NodeSchematicArgs {
  readonly platform: "hetzner" | "proxmox" | "existing";
  readonly network: {
    readonly nodeCidr: string;
    readonly gateway?: string | undefined;
    readonly nameservers: readonly string[];
    readonly addressing: "dhcp" | "meta" | "nocloud";
    readonly vlan?: { readonly tag: number; readonly mode: "access" | "trunk" } | undefined;
  };
  readonly image: { readonly extensions: readonly string[]; readonly kernelArgs: readonly string[] };
}

/**
 * What a node's image and its installer are made from. With META addressing on Proxmox it is the node's own, for it holds the node's address; on
 * machines that are there already their owner has made the image.
 */
export function nodeSchematic(
  { platform, network, image }: NodeSchematicArgs,
  { name, address }: { readonly name: string; readonly address: string },
): Schematic {
  const { extensions, kernelArgs } = image;
  if (platform !== "proxmox" || network.addressing !== "meta") return { extensions, kernelArgs };
  const { nodeCidr, gateway, nameservers, vlan } = network;
  const value = platformNetwork({
    hostname: name,
    address: `${address}/${prefixLength(nodeCidr)}`,
    gateway,
    nameservers,
    vlan: vlan?.mode === "trunk" ? { tag: vlan.tag, link: addressLink({ network, image }) } : undefined,
  });
  return {
    extensions,
    kernelArgs: kernelArgs.includes(countedNames) ? kernelArgs : [...kernelArgs, countedNames],
    meta: [{ key: networkKey, value }],
  };
}
