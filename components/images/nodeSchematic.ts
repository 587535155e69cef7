import { prefixLength } from "../network/cidr.ts";
import { addressLink } from "../talos/patches/nic.ts";
import { countedNames, networkKey, platformNetwork } from "./platformNetwork.ts";
import type { Schematic } from "./schematic.ts";

/** The part of the configuration that a node's image follows from. */
export interface NodeSchematicArgs {
  /** Only on Proxmox a node may have an image of its own. */
  readonly platform: "hetzner" | "proxmox" | "existing";
  readonly network: {
    /** Its prefix is the address's. */
    readonly nodeCidr: string;
    /** Of the default route. */
    readonly gateway?: string | undefined;
    /** Asked until the node has its config. */
    readonly nameservers: readonly string[];
    /** With `meta` the image holds the address. */
    readonly addressing: "dhcp" | "meta" | "nocloud";
    /** In mode `trunk` the node tags from its first boot on. */
    readonly vlan?: { readonly tag: number; readonly mode: "access" | "trunk" } | undefined;
  };
  /** What is put into every image. */
  readonly image: { readonly extensions: readonly string[]; readonly kernelArgs: readonly string[] };
}

/** What installs and upgrades nodes: the same for all of them. */
export function installerSchematic({ platform, network, image }: NodeSchematicArgs): Schematic {
  const { extensions, kernelArgs } = image;
  // In every mode in which META could hold the address, so that a cluster goes from one to the other without another installer.
  const isCounted = platform === "proxmox" && network.addressing !== "nocloud" && !kernelArgs.includes(countedNames);
  return { extensions, kernelArgs: isCounted ? [...kernelArgs, countedNames] : kernelArgs };
}

/**
 * What a node's image is made from. With META addressing on Proxmox it is the node's own, for it holds the node's address; what is installed later leaves
 * that where it is. On machines that are there already their owner has made the image.
 */
export function nodeSchematic(
  config: NodeSchematicArgs,
  { name, address }: { readonly name: string; readonly address: string },
): Schematic {
  const installer = installerSchematic(config);
  const { platform, network, image } = config;
  if (platform !== "proxmox" || network.addressing !== "meta") return installer;
  const { nodeCidr, gateway, nameservers, vlan } = network;
  const value = platformNetwork({
    hostname: name,
    address: `${address}/${prefixLength(nodeCidr)}`,
    gateway,
    nameservers,
    vlan: vlan?.mode === "trunk" ? { tag: vlan.tag, link: addressLink({ network, image }) } : undefined,
  });
  return { ...installer, meta: [{ key: networkKey, value }] };
}
