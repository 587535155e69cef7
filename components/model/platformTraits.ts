import type { NetworkSettings } from "./settings/network.ts";

export type Addressing = NetworkSettings["addressing"];

/**
 * What is known of a platform without calling it: images, addresses and machine configs are derived from this. Each platform has one such object in
 * components/machines/<platform>/; nothing else in components distinguishes platforms.
 */
export interface PlatformTraits {
  /** Its name in an environment. */
  readonly name: string;
  /** Whether Sluice creates the machines, with the names `<cluster>-<node>`. Otherwise they exist before the cluster and outlive it. */
  readonly createsMachines: boolean;
  /** Talos' own name of the platform of its images: it decides where a node looks for its network configuration. */
  readonly talosPlatform: (addressing: Addressing) => string;
  /** Whether each node may start from its own image, which contains its address (META key 10). Otherwise all nodes start from one image. */
  readonly hasImagePerNode: boolean;
  /** Whether the MAC of a node's NIC can be chosen: then it is derived from the names of cluster and node. Otherwise the machine brings its own. */
  readonly choosesMacs: boolean;
  /** Names of a machine's NICs if they are fixed; each NIC gets its address by DHCP. Otherwise a config finds the NIC by its MAC. */
  readonly nicNames?: readonly string[] | undefined;
  /** If the network carries no ARP, so that no node can answer for another address: the message that refuses a VIP, and addresses of Services. */
  readonly noSharedAddress?: { readonly vip: string; readonly services: string } | undefined;
}
