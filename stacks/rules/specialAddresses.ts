import { isIPv4 } from "node:net";
import { contains, overlaps } from "../../components/network/cidr.ts";
import { specialRange } from "../../components/network/specialRange.ts";
import type { NamedValue } from "../platforms/platform.ts";
import { rule } from "./rule.ts";

/** S2.4: no host has an address that is loopback, link-local or multicast. */
export const specialAddresses = rule(["network", "endpoint"], function* ({ network, endpoint }) {
  const { nodeCidr, podCidr, serviceCidr, nameservers } = network;
  const values: (readonly [path: string, value: string | undefined])[] = [
    ["network.nodeCidr", nodeCidr],
    ["network.podCidr", podCidr],
    ["network.serviceCidr", serviceCidr],
    ...nameservers.map((value, index) => [`network.nameservers[${index}]`, value] as const),
    ["endpoint", endpoint !== undefined && isIPv4(endpoint) ? endpoint : undefined],
  ];
  for (const [path, value] of values) {
    const special = value === undefined ? undefined : specialRange(value);
    if (special !== undefined) {
      yield { path, message: `${value} is ${special.name} (${special.range}): no host can have such an address` };
    }
  }
});

/** S2.4: addresses outside the cluster must not be in the ranges of pods and Services: nodes send such packets into the cluster. */
export const outsideAddresses = rule(["network", "endpoint", "platform", "settings"], function* (config) {
  const { network, endpoint, platform, settings } = config;
  // A range that overlaps the nodes' is reported by itself.
  const ranges = (["podCidr", "serviceCidr"] as const).filter((key) => !overlaps(network[key], network.nodeCidr));
  const values: NamedValue[] = [
    ...network.nameservers.map((value, index) => ({
      path: `network.nameservers[${index}]`,
      value,
      title: "a nameserver",
    })),
    ...(endpoint !== undefined && isIPv4(endpoint)
      ? [{ path: "endpoint", value: endpoint, title: "the endpoint" }]
      : []),
    ...(platform.takenAddresses?.(settings) ?? []),
  ];
  for (const { path, value, title } of values) {
    const key = ranges.find((range) => contains(network[range], value));
    if (key !== undefined) {
      yield {
        path,
        message: `${value}, ${title}, is inside network.${key} ${network[key]}: nodes would look for it in the cluster`,
      };
    }
  }
});
