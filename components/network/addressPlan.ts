// What each node is called on the network. Everything follows from the cluster's name and the node's own entry, never from
// its position in the list, so that editing the list leaves every other node as it is. Rules: docs/addresses.md.
import { createHash } from "node:crypto";
import type { Role } from "../machines/node.ts";
import { prefixLength } from "./cidr.ts";

/** The part of the configuration that addresses follow from. */
export interface AddressPlanArgs {
  readonly clusterName: string;
  /** Only a Proxmox VM can be given a MAC; other machines bring their own. */
  readonly platform: "hetzner" | "proxmox" | "existing";
  readonly network: { readonly nodeCidr: string; readonly gateway?: string | undefined };
  readonly nodes: readonly {
    readonly name: string;
    readonly role: Role;
    readonly address: string;
    readonly mac?: string | undefined;
    readonly uuid?: string | undefined;
    readonly vmId?: number | undefined;
  }[];
}

/** One node's identity on the network. */
export interface NodeAddress {
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  /** Length of the node network's prefix: 16 for `10.0.0.0/16`. */
  readonly prefixLength: number;
  readonly gateway: string | undefined;
  /** As the node's entry says; on Proxmox derived where it says nothing; elsewhere unknown. */
  readonly mac: string | undefined;
  readonly uuid: string | undefined;
  readonly vmId: number | undefined;
}

export function addressPlan({ clusterName, platform, network, nodes }: AddressPlanArgs): NodeAddress[] {
  return nodes.map((node) => ({
    name: node.name,
    role: node.role,
    address: node.address,
    prefixLength: prefixLength(network.nodeCidr),
    gateway: network.gateway,
    mac: node.mac ?? (platform === "proxmox" ? derivedMac(clusterName, node.name) : undefined),
    uuid: node.uuid,
    vmId: node.vmId,
  }));
}

/** A MAC that is the same in every run: `02:` (unicast, locally administered) and five bytes of a hash of both names. */
export function derivedMac(clusterName: string, nodeName: string): string {
  const hash = createHash("sha256").update(`${clusterName}/${nodeName}`).digest();
  return ["02", ...Array.from(hash.subarray(0, 5), (byte) => byte.toString(16).padStart(2, "0"))].join(":");
}

/** Whether the MAC names one interface. The lowest bit of the first byte marks a group of them. */
export function isUnicastMac(mac: string): boolean {
  return mac !== "00:00:00:00:00:00" && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;
}
