import { networkOf, overlaps, prefixLength } from "../../components/network/cidr.ts";
import { rule } from "./rule.ts";

/** S2.4: a range is written with its network address. Host bits are a typing slip more often than not. */
export const networkAddresses = rule(["network", "hetzner"], function* ({ network, hetzner }) {
  const ranges: [path: string, cidr: string | undefined][] = [
    ["network.nodeCidr", network.nodeCidr],
    ["network.podCidr", network.podCidr],
    ["network.serviceCidr", network.serviceCidr],
    ["hetzner.networkCidr", hetzner?.networkCidr],
    ...(hetzner?.allowedCidrs ?? []).map((cidr, index): [string, string] => [`hetzner.allowedCidrs[${index}]`, cidr]),
  ];
  for (const [path, cidr] of ranges) {
    if (cidr !== undefined && cidr !== networkOf(cidr)) {
      yield { path, message: `${cidr} is an address in a range, not a range: did you mean ${networkOf(cidr)}?` };
    }
  }
});

/** S2.4: nodes, pods and services each have a range of their own, or routes would lead to the wrong one. */
export const overlappingRanges = rule(["network", "hetzner"], function* ({ network, hetzner }) {
  const nodes = { path: "network.nodeCidr", cidr: network.nodeCidr };
  const pods = { path: "network.podCidr", cidr: network.podCidr };
  const services = { path: "network.serviceCidr", cidr: network.serviceCidr };
  const whole = { path: "hetzner.networkCidr", cidr: hetzner?.networkCidr ?? network.nodeCidr };
  for (const range of [pods, services]) {
    // The whole network holds the nodes, so it only tells something where the nodes' own range is clear.
    const other = [nodes, whole].find(({ cidr }) => overlaps(range.cidr, cidr));
    if (other) {
      yield {
        path: range.path,
        message: `${range.cidr} overlaps ${other.path} ${other.cidr}: give it a range of its own`,
      };
    }
  }
  if (overlaps(pods.cidr, services.cidr)) {
    yield {
      path: services.path,
      message: `${services.cidr} overlaps ${pods.path} ${pods.cidr}: give it a range of its own`,
    };
  }
});

/** The controller manager gives every node a /24 of the pod range, and the cluster's DNS takes the tenth service address. */
export const rangeSizes = rule(["network", "nodes"], function* ({ network, nodes }) {
  const room = 2 ** Math.max(0, 24 - prefixLength(network.podCidr));
  if (prefixLength(network.podCidr) > 24 || room < nodes.length) {
    const needed = 24 - Math.ceil(Math.log2(nodes.length));
    yield {
      path: "network.podCidr",
      message: `${network.podCidr} has no /24 for each of the ${nodes.length} nodes: it must be a /${needed} or larger`,
    };
  }
  if (prefixLength(network.serviceCidr) > 28) {
    yield {
      path: "network.serviceCidr",
      message: `${network.serviceCidr} is too small, the cluster's DNS takes its tenth address: it must be a /28 or larger`,
    };
  }
  if (prefixLength(network.nodeCidr) > 30) {
    yield {
      path: "network.nodeCidr",
      message: `${network.nodeCidr} has no room for a node beside a gateway: it must be a /30 or larger`,
    };
  }
});
