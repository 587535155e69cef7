import { isIPv4 } from "node:net";
import { addressSpan, isInOrder, spanHas, spansMeet } from "../../components/network/addressSpan.ts";
import { broadcastAddress, contains, networkAddress } from "../../components/network/cidr.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { type PlacedConfig, places } from "./addresses.ts";
import { rule } from "./rule.ts";

/** Addresses of Services need a program that answers for them in the node network. */
export const announcedServices = rule(["platform", "network", "services"], function* ({ platform, network, services }) {
  const { announce, addresses, interfaces } = services;
  if (announce === "none") {
    if (addresses.length > 0) {
      yield { path: "services.addresses", message: "nothing would answer for them: set services.announce" };
    }
    if (interfaces.length > 0) {
      yield { path: "services.interfaces", message: "nothing would answer on them: set services.announce" };
    }
    return;
  }
  if (platform.noSharedAddress !== undefined) {
    yield { path: "services.announce", message: platform.noSharedAddress.services };
  } else if (addresses.length === 0) {
    yield {
      path: "services.addresses",
      message: `is empty, but services.announce is '${announce}': Services would get no address`,
    };
  }
  if (announce !== "kube-vip") return;
  if (network.vipBy !== "kube-vip") {
    yield {
      path: "services.announce",
      message:
        "is 'kube-vip', which is installed for the VIP only: set network.vipBy to 'kube-vip' too, or services.announce to 'cilium'",
    };
  }
  if (interfaces.length > 1) {
    yield { path: "services.interfaces", message: `are ${interfaces.length}, but kube-vip answers on one` };
  }
});

/** S2.4: addresses of Services are in the node network, and nothing else has them. */
export const serviceAddresses = rule(
  ["network", "endpoint", "platform", "settings", "nodes", "services"],
  function* (config) {
    const { nodeCidr } = config.network;
    const taken = takenAddresses(config);
    const spans = config.services.addresses.map(addressSpan);
    for (const [index, text] of config.services.addresses.entries()) {
      const path = `services.addresses[${index}]`;
      const span = addressSpan(text);
      if (!isInOrder(span)) {
        yield { path, message: `${text} ends before it starts` };
        continue;
      }
      if (!contains(nodeCidr, span.first) || !contains(nodeCidr, span.last)) {
        yield { path, message: `${text} is not all inside network.nodeCidr ${nodeCidr}` };
      }
      for (const { address, whose } of taken) {
        if (spanHas(span, address)) yield { path, message: `${text} has ${address}, ${whose}` };
      }
      const before = spans.slice(0, index).findIndex((other) => isInOrder(other) && spansMeet(span, other));
      if (before >= 0) yield { path, message: `${text} overlaps services.addresses[${before}]` };
    }
  },
);

/** All other known addresses in the node network. */
function takenAddresses(config: PlacedConfig & Pick<ClusterConfig, "endpoint">) {
  const { nodeCidr, nameservers } = config.network;
  return [
    { address: networkAddress(nodeCidr), whose: "the address of the network itself" },
    { address: broadcastAddress(nodeCidr), whose: "the network's broadcast address" },
    ...places(config).map(({ address, title }) => ({ address, whose: `the address of ${title}` })),
    // A home router is often both, and is reported once.
    ...nameservers
      .filter((address) => address !== config.network.gateway)
      .map((address) => ({ address, whose: "a nameserver" })),
    ...(isAlone(config) ? [{ address: config.endpoint ?? "", whose: "the endpoint" }] : []),
    ...(config.platform.takenAddresses?.(config.settings) ?? []).map(({ value, title }) => {
      return { address: value, whose: `the address of ${title}` };
    }),
  ];
}

/** Whether the endpoint is an address that has no other name here. */
function isAlone(config: PlacedConfig & Pick<ClusterConfig, "endpoint">): boolean {
  const { endpoint } = config;
  return endpoint !== undefined && isIPv4(endpoint) && places(config).every(({ address }) => address !== endpoint);
}
