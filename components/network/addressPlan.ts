// The identity of each node on the network. Everything is derived from the cluster's name and the node's own entry, never from
// its position in the list, so that editing the list changes no other node. Rules: docs/addresses.md.
import { sha256 } from "../model/contentHash.ts";
import type { PlatformTraits } from "../model/platformTraits.ts";
import type { Role } from "../model/role.ts";
import type { NetworkSettings } from "../model/settings/network.ts";
import type { NodeSettings } from "../model/settings/node.ts";
import { prefixLength } from "./cidr.ts";

/** The part of the configuration that addresses are derived from. */
export interface AddressPlanArgs {
  readonly clusterName: string;
  readonly platform: Pick<PlatformTraits, "choosesMacs">;
  readonly network: Pick<NetworkSettings, "nodeCidr" | "gateway">;
  readonly nodes: readonly (Pick<NodeSettings, "name" | "role" | "address" | "mac" | "uuid"> & {
    readonly vmId?: number | undefined;
  })[];
}

/** One node's identity on the network. */
export interface NodeAddress {
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  /** Length of the node network's prefix: 16 for `10.0.0.0/16`. */
  readonly prefixLength: number;
  readonly gateway: string | undefined;
  /** From the node's entry; without one it is derived if MACs can be chosen on the platform, else unknown. */
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
    mac: node.mac ?? (platform.choosesMacs ? derivedMac(clusterName, node.name) : undefined),
    uuid: node.uuid,
    vmId: node.vmId,
  }));
}

/** A MAC that is the same in every run: `02:` (unicast, locally administered) and five bytes of a hash of both names. */
export function derivedMac(clusterName: string, nodeName: string): string {
  const hash = sha256(`${clusterName}/${nodeName}`);
  return ["02", ...(hash.match(/../g) ?? []).slice(0, 5)].join(":");
}

/** Whether the MAC names one interface. The lowest bit of the first byte marks a group of them. */
export function isUnicastMac(mac: string): boolean {
  return mac !== "00:00:00:00:00:00" && (Number.parseInt(mac.slice(0, 2), 16) & 1) === 0;
}
