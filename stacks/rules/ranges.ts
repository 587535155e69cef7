import { networkOf, overlaps, prefixLength } from "../../components/network/cidr.ts";
import { rule } from "./rule.ts";

/** S2.4: a range is written with its network address. Host bits are mostly a typing error. */
export const networkAddresses = rule(["network", "platform", "settings"], function* ({ network, platform, settings }) {
  const ranges: [path: string, cidr: string][] = [
    ["network.nodeCidr", network.nodeCidr],
    ["network.podCidr", network.podCidr],
    ["network.serviceCidr", network.serviceCidr],
    ...(platform.ranges?.(settings) ?? []).map(({ path, value }): [string, string] => [path, value]),
  ];
  for (const [path, cidr] of ranges) {
    if (cidr !== networkOf(cidr)) {
      yield { path, message: `${cidr} is an address in a range, not a range: did you mean ${networkOf(cidr)}?` };
    }
  }
});

/** S2.4: nodes, pods and Services each have a separate range, or routes would lead to the wrong one. */
export const overlappingRanges = rule(["network", "platform", "settings"], function* ({ network, platform, settings }) {
  const around = platform.networkRange?.(settings);
  const nodes = { path: "network.nodeCidr", cidr: network.nodeCidr };
  const pods = { path: "network.podCidr", cidr: network.podCidr };
  const services = { path: "network.serviceCidr", cidr: network.serviceCidr };
  const whole = around === undefined ? nodes : { path: around.path, cidr: around.value };
  for (const range of [pods, services]) {
    // The complete network includes the nodes' range, so the network is reported only if the nodes' range does not overlap.
    const other = [nodes, whole].find(({ cidr }) => overlaps(range.cidr, cidr));
    if (other) {
      yield {
        path: range.path,
        message: `${range.cidr} overlaps ${other.path} ${other.cidr}: use a separate range`,
      };
    }
  }
  if (overlaps(pods.cidr, services.cidr)) {
    yield {
      path: services.path,
      message: `${services.cidr} overlaps ${pods.path} ${pods.cidr}: use a separate range`,
    };
  }
});

/** The controller manager assigns a /24 of the pod range to every node, and the cluster's DNS has the tenth service address. */
export const rangeSizes = rule(["network", "nodes", "kubernetesVersion"], function* (config) {
  const { network, nodes, kubernetesVersion } = config;
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
      message: `${network.serviceCidr} is too small, the cluster's DNS has the tenth address: it must be a /28 or larger`,
    };
  }
  // Its API server keeps a bitmap of the range; from 1.34 on it keeps an object for each address that is in use.
  if (prefixLength(network.serviceCidr) < 12 && Number(kubernetesVersion.split(".")[1]) < 34) {
    yield {
      path: "network.serviceCidr",
      message: `${network.serviceCidr} is too large for the API server of Kubernetes ${kubernetesVersion}, which would not start: it must be a /12 or smaller`,
    };
  }
  if (prefixLength(network.nodeCidr) > 30) {
    yield {
      path: "network.nodeCidr",
      message: `${network.nodeCidr} has no room for a node beside a gateway: it must be a /30 or larger`,
    };
  }
});
