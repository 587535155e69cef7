// The Proxmox cluster that an environment names, as the lab simulates it.
import { isIPv4 } from "node:net";
import { addressPlan } from "../../components/network/addressPlan.ts";
import { gatewayOf } from "./labGateway.ts";
import type { LabProxmox } from "./labNeeds.ts";
import type { ProxmoxConfig } from "./proxmoxRules.ts";

/** Default content types of storages for files, and for disks. */
const files = ["backup", "import", "iso", "vztmpl"];
const disks = ["images", "rootdir"];

export function proxmoxFor(config: ProxmoxConfig): LabProxmox {
  const { settings: proxmox, network } = config;
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

/** The router is configured as docs/proxmox.md requires. */
function reservations(config: ProxmoxConfig) {
  return addressPlan(config).flatMap(({ mac, address }) => (mac === undefined ? [] : [{ mac, address }]));
}

/** The address of a Proxmox whose endpoint is a name: a lab resolves no names. */
const address = "https://192.0.2.40:8006";

/** For an endpoint as it is in an environment's file, unchecked. */
export function labEndpoint(endpoint: unknown): unknown {
  const { host } = /^https:\/\/(?<host>[^:/]+)/.exec(String(endpoint))?.groups ?? {};
  return isIPv4(host ?? "") ? endpoint : address;
}
