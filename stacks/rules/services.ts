import { isIPv4 } from "node:net";
import { addressSpan, isInOrder, spanHas, spansMeet } from "../../components/network/addressSpan.ts";
import { broadcastAddress, contains, networkAddress } from "../../components/network/cidr.ts";
import type { ClusterConfig } from "../schema.ts";
import { places } from "./addresses.ts";
import { rule } from "./rule.ts";

/** Addresses go with somebody who answers for them in the node network. */
export const announcedServices = rule(["platform", "network", "services"], function* ({ platform, network, services }) {
  const { announce, addresses, interfaces } = services;
  if (announce === "none") {
    if (addresses.length > 0) {
      yield { path: "services.addresses", message: "nobody would answer for them: set services.announce" };
    }
    if (interfaces.length > 0) {
      yield { path: "services.interfaces", message: "nobody would answer on them: set services.announce" };
    }
    return;
  }
  if (platform === "hetzner") {
    yield {
      path: "services.announce",
      message:
        "a Hetzner network routes and carries no ARP, so no node can answer for an address: remove it, the cloud controller makes load balancers",
    };
  } else if (addresses.length === 0) {
    yield {
      path: "services.addresses",
      message: `is empty, but services.announce is '${announce}': Services would get none`,
    };
  }
  if (announce !== "kube-vip") return;
  if (network.vipBy !== "kube-vip") {
    yield {
      path: "services.announce",
      message: "is 'kube-vip', which is there for the VIP alone: set network.vipBy to it too, or announce by 'cilium'",
    };
  }
  if (interfaces.length > 1) {
    yield { path: "services.interfaces", message: `are ${interfaces.length}, but kube-vip answers on one` };
  }
});

/** S2.4: what Services get lies in the node network, and nobody else has it. */
export const serviceAddresses = rule(["network", "hetzner", "proxmox", "nodes", "services"], function* (config) {
  const { nodeCidr } = config.network;
  const taken = takenAddresses(config);
  const spans = config.services.addresses.map(addressSpan);
  for (const [index, text] of config.services.addresses.entries()) {
    const path = `services.addresses[${index}]`;
    const span = addressSpan(text);
    if (!isInOrder(span)) {
      yield { path, message: `${text} ends before it begins` };
      continue;
    }
    if (!contains(nodeCidr, span.first) || !contains(nodeCidr, span.last)) {
      yield { path, message: `${text} is not all inside network.nodeCidr ${nodeCidr}` };
    }
    for (const { address, whose } of taken) {
      if (spanHas(span, address)) yield { path, message: `${text} has ${address}, ${whose}` };
    }
    const before = spans.slice(0, index).findIndex((other) => isInOrder(other) && spansMeet(span, other));
    if (before >= 0) yield { path, message: `${text} has addresses that services.addresses[${before}] has too` };
  }
});

/** Everything else that is known to have an address in the node network. */
function takenAddresses(config: Pick<ClusterConfig, "network" | "hetzner" | "proxmox" | "nodes">) {
  const { nodeCidr, nameservers } = config.network;
  const host = config.proxmox && new URL(config.proxmox.endpoint).hostname;
  return [
    { address: networkAddress(nodeCidr), whose: "which names the network itself" },
    { address: broadcastAddress(nodeCidr), whose: "the network's broadcast address" },
    ...places(config).map(({ address, title }) => ({ address, whose: `the address of ${title}` })),
    // A home router is often both, and is told once.
    ...nameservers
      .filter((address) => address !== config.network.gateway)
      .map((address) => ({ address, whose: "a nameserver" })),
    ...(host !== undefined && isIPv4(host) ? [{ address: host, whose: "the address of the Proxmox API" }] : []),
  ];
}
