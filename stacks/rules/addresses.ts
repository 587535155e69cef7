import { broadcastAddress, contains, networkAddress, prefixLength } from "../../components/network/cidr.ts";
import type { ClusterConfig } from "../schema.ts";
import { rule } from "./rule.ts";

interface Place {
  readonly path: string;
  readonly address: string;
  /** What messages at other places call this one. */
  readonly title: string;
  readonly isNode?: true;
}

/** S2.4: everything that has an address in the node network has one that a host can have. A VIP in a tailnet has none there. */
export const addressesInside = rule(["network", "hetzner", "nodes", "kubeVip"], function* (config) {
  const { nodeCidr } = config.network;
  const isInTailnet = config.kubeVip.interface?.startsWith("tailscale") ?? false;
  for (const { path, address } of places(config)) {
    if (isInTailnet && path === "network.vip" && !contains(nodeCidr, address)) continue;
    if (!contains(nodeCidr, address)) {
      yield { path, message: `${address} is outside network.nodeCidr ${nodeCidr}` };
    } else if (prefixLength(nodeCidr) <= 30 && address === networkAddress(nodeCidr)) {
      yield { path, message: `${address} names the network ${nodeCidr} itself: no host can have its first address` };
    } else if (prefixLength(nodeCidr) <= 30 && address === broadcastAddress(nodeCidr)) {
      yield { path, message: `${address} is the broadcast address of ${nodeCidr}: no host can have its last address` };
    }
  }
});

/** S2.4: gateway, VIP, load balancer and nodes do not share an address. Two nodes that do are told by `nodeIdentity`. */
export const sharedAddresses = rule(["network", "hetzner", "nodes"], function* (config) {
  const all = places(config);
  for (const [index, place] of all.entries()) {
    const other = all
      .slice(0, index)
      .find(({ address, isNode }) => address === place.address && !(isNode && place.isNode));
    if (other) yield { path: place.path, message: `${place.address} is also the address of ${other.title}` };
  }
});

/** The gateway first and the nodes next: of two that clash the later one is named, and a VIP moves more easily than a node. */
export function places({ network, hetzner, nodes }: Pick<ClusterConfig, "network" | "hetzner" | "nodes">): Place[] {
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
    ...single("hetzner.loadBalancer.address", hetzner?.loadBalancer?.address, "the load balancer"),
  ];
}
