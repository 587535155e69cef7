// The Proxmox cluster that an environment names.
import { addressPlan } from "../../components/network/addressPlan.ts";
import type { ClusterConfig } from "../../stacks/schema.ts";
import { gatewayOf } from "./gatewayOf.ts";

/** As the lab's config has it. */
export interface LabProxmox {
  readonly address: string;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly storages: readonly { readonly name: string; readonly content: readonly string[] }[];
  readonly network: string;
  readonly gateway: string;
  /** Whether the router gives addresses to whoever asks. */
  readonly dhcp: boolean;
  /** The addresses that it keeps for who is listed. */
  readonly reservations?: readonly { readonly mac: string; readonly address: string }[];
}

/** What storages have by default that are made for files, and for disks. */
const files = ["backup", "import", "iso", "vztmpl"];
const disks = ["images", "rootdir"];

type Asked = Pick<ClusterConfig, "clusterName" | "platform" | "nodes" | "proxmox" | "network">;

export function proxmoxFor(config: Asked): LabProxmox {
  const { proxmox, network } = config;
  if (proxmox === undefined) throw new Error("platform 'proxmox' has no settings"); // the shape of the config sees to them
  const { hostname, port } = new URL(proxmox.endpoint);
  const storages = new Map([[proxmox.imageStorage, files]]);
  for (const name of new Set([proxmox.storage, proxmox.volumes.storage ?? proxmox.storage])) {
    storages.set(name, [...(storages.get(name) ?? []), ...disks]);
  }
  return {
    address: hostname,
    port: Number(port || 443),
    hosts: proxmox.hosts,
    storages: [...storages].map(([name, content]) => ({ name, content })),
    network: network.nodeCidr,
    gateway: gatewayOf(network),
    ...(network.addressing === "dhcp" ? { dhcp: true, reservations: reservations(config) } : { dhcp: false }),
  };
}

/** The router does as docs/proxmox.md asks its owner to do. */
function reservations(config: Asked) {
  return addressPlan(config).flatMap(({ mac, address }) => (mac === undefined ? [] : [{ mac, address }]));
}
