import { isIPv4 } from "node:net";
import { isMapping } from "../../components/model/untyped.ts";
import { addressSpan, isInOrder, spanHas, spansMeet } from "../../components/network/addressSpan.ts";
import { broadcastAddress, contains, networkAddress } from "../../components/network/cidr.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { type PlacedConfig, places } from "./addresses.ts";
import { rule } from "./rule.ts";

/** Cilium answers for them only with this. */
export const announcingCilium = rule(["services", "cilium"], function* ({ services, cilium: { values } }) {
  const own = values.l2announcements;
  if (services.announce === "cilium" && isMapping(own) && own.enabled === false) {
    yield {
      path: "cilium.values.l2announcements.enabled",
      message: "is false, but services.announce is 'cilium', which needs it: remove it",
    };
  }
});

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
  for (const [index, pattern] of interfaces.entries()) {
    if (announce === "cilium" && !isPattern(pattern)) {
      const message = `'${pattern}' is no regular expression such as ^eth[0-9]+: Cilium would answer on no interface`;
      yield { path: `services.interfaces[${index}]`, message };
    }
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

/** As Go reads it: without lookaround, and with flags and names of groups that JavaScript writes in another way. */
function isPattern(text: string): boolean {
  try {
    new RegExp(text.replace(/\(\?[imsU]+\)/g, "").replaceAll("(?P<", "(?<"));
    return !/\(\?<?[=!]/.test(text);
  } catch {
    return false;
  }
}
