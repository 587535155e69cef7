import { broadcastAddress, contains, networkAddress, prefixLength } from "../../components/network/cidr.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { rule } from "./rule.ts";

/** The settings that determine addresses in the node network. */
export type PlacedConfig = Pick<ClusterConfig, "network" | "platform" | "settings" | "nodes">;

interface Place {
  readonly path: string;
  readonly address: string;
  /** Its name in messages about other places. */
  readonly title: string;
  readonly isNode?: true;
}

/** S2.4: everything in the node network has an address that a host can have. A VIP in a tailnet is not in it. */
export const addressesInside = rule(["network", "platform", "settings", "nodes", "kubeVip"], function* (config) {
  const { nodeCidr } = config.network;
  const isInTailnet = config.kubeVip.interface?.startsWith("tailscale") ?? false;
  for (const { path, address } of places(config)) {
    if (isInTailnet && path === "network.vip" && !contains(nodeCidr, address)) continue;
    if (!contains(nodeCidr, address)) {
      yield { path, message: `${address} is outside network.nodeCidr ${nodeCidr}` };
    } else {
      const message = endFault(nodeCidr, address);
      if (message !== undefined) yield { path, message };
    }
  }
});

/** S2.4: gateway, VIP, load balancer and nodes do not share an address. `nodeIdentity` finds two nodes that do. */
export const sharedAddresses = rule(["network", "platform", "settings", "nodes"], function* (config) {
  const all = places(config);
  for (const [index, place] of all.entries()) {
    const other = all
      .slice(0, index)
      .find(({ address, isNode }) => address === place.address && !(isNode && place.isNode));
    if (other) yield { path: place.path, message: `${place.address} is also the address of ${other.title}` };
  }
});

/** S2.4: an address that somebody else has takes that one off the network: a hypervisor whose address is the VIP, for example. */
export const takenAddresses = rule(["network", "platform", "settings", "nodes"], function* (config) {
  const { platform, settings, network } = config;
  const taken = platform.takenAddresses?.(settings) ?? [];
  const own = places(config).filter(({ path }) => path !== "network.gateway");
  for (const { path, value } of taken) {
    const message = endFault(network.nodeCidr, value);
    if (message !== undefined) yield { path, message };
  }
  for (const { path, address } of own) {
    const owner = taken.find(({ value }) => value === address);
    if (owner !== undefined) {
      yield { path, message: `${address} is the address of ${owner.title} (${owner.path}): use another one` };
    }
  }
  // The gateway, or a hypervisor, may be a nameserver. What the cluster itself has is no nameserver when its nodes start.
  for (const [index, address] of network.nameservers.entries()) {
    if (address === network.gateway) continue;
    const path = `network.nameservers[${index}]`;
    const message = endFault(network.nodeCidr, address);
    if (message !== undefined) yield { path, message };
    const owner = own.find((place) => place.address === address);
    if (owner !== undefined) {
      yield {
        path,
        message: `${address} is the address of ${owner.title}: nodes need a nameserver before the cluster runs`,
      };
    }
  }
});

/** The first and the last address of a range are no host's. */
function endFault(cidr: string, address: string): string | undefined {
  if (prefixLength(cidr) > 30) return undefined;
  if (address === networkAddress(cidr)) {
    return `${address} is the address of the network ${cidr} itself: no host can have the first address`;
  }
  return address === broadcastAddress(cidr)
    ? `${address} is the broadcast address of ${cidr}: no host can have the last address`
    : undefined;
}

/** The gateway first, then the nodes: of two with one address the later is reported, and a VIP is easier to move than a node. */
export function places({ network, platform, settings, nodes }: PlacedConfig): Place[] {
  const balancer = platform.loadBalancer?.(settings);
  const single = (path: string, address: string | undefined, title: string): Place[] =>
    address === undefined ? [] : [{ path, address, title }];
  return [
    ...single("network.gateway", network.gateway, "the gateway"),
    ...nodes.map(
      ({ name, address }, index): Place => ({
        path: `nodes[${index}].address`,
        address,
        title: `nodes[${index}] (${name})`,
        isNode: true,
      }),
    ),
    ...single("network.vip", network.vip, "the VIP"),
    ...(balancer === undefined ? [] : [{ ...balancer, address: balancer.value }]),
  ];
}
