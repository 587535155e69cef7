import type { PlatformTraits } from "../model/platformTraits.ts";
import type { ImageSettings } from "../model/settings/image.ts";
import type { NetworkSettings } from "../model/settings/network.ts";
import { addressLink } from "../network/addressLink.ts";
import { prefixLength } from "../network/cidr.ts";
import { countedNames, networkKey, platformNetwork } from "./platformNetwork.ts";
import type { Schematic } from "./schematic.ts";

/** The part of the configuration that determines a node's image. */
export interface NodeSchematicArgs {
  readonly platform: Pick<PlatformTraits, "hasImagePerNode">;
  readonly network: Pick<NetworkSettings, "nodeCidr" | "gateway" | "nameservers" | "addressing" | "vlan">;
  readonly image: Pick<ImageSettings, "extensions" | "kernelArgs">;
}

/** The schematic of the installer of all nodes. */
export function installerSchematic({ platform, network, image }: NodeSchematicArgs): Schematic {
  const { extensions, kernelArgs } = image;
  // The same in every mode in which META could hold the address, so that a cluster can change its addressing without another installer.
  const isCounted = platform.hasImagePerNode && network.addressing !== "nocloud" && !kernelArgs.includes(countedNames);
  return { extensions, kernelArgs: isCounted ? [...kernelArgs, countedNames] : kernelArgs };
}

/**
 * The schematic of a node's image. With META addressing each node has its own, if the platform allows that, because it contains the node's address; a later
 * installation keeps META. Owners provide the images of existing machines.
 */
export function nodeSchematic(
  config: NodeSchematicArgs,
  { name, address }: { readonly name: string; readonly address: string },
): Schematic {
  const installer = installerSchematic(config);
  const { platform, network, image } = config;
  if (!platform.hasImagePerNode || network.addressing !== "meta") return installer;
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
