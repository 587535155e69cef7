import { rule } from "./rule.ts";

/** S4.3: a node that asks no DHCP server has to be told what it would have learnt there. */
export const staticAddressing = rule(["network", "platform"], function* ({ network, platform }) {
  if (network.addressing !== "dhcp") {
    const why = `network.addressing is '${network.addressing}', so no DHCP server tells the nodes`;
    if (network.gateway === undefined) yield { path: "network.gateway", message: `is missing: ${why}` };
    if (network.nameservers.length === 0) yield { path: "network.nameservers", message: `is empty: ${why}` };
  }
  if (network.addressing === "nocloud" && platform === "existing") {
    yield {
      path: "network.addressing",
      message:
        "'nocloud' needs a hypervisor that hands the node its seed, which platform 'existing' has not: use 'meta' or 'dhcp'",
    };
  }
});

/** A node in maintenance has no config yet and so knows no VLAN: on a trunk it must be told before, or it speaks untagged and is not found. */
export const vlanTrunk = rule(["network", "image"], function* ({ network, image }) {
  const isTold = network.addressing !== "dhcp" || image.kernelArgs.some((arg) => arg.startsWith("vlan="));
  if (network.vlan?.mode === "trunk" && !isTold) {
    yield {
      path: "network.vlan.mode",
      message:
        "'trunk' with network.addressing 'dhcp' leaves the node without its tag until it has a config: use mode 'access', addressing 'meta' or 'nocloud', or a kernel argument vlan= in image.kernelArgs",
    };
  }
});

/** A config names the NIC that it means by its MAC, and machines that are already there have MACs that only their owner knows. */
export const nicMacs = rule(["platform", "network", "nodes"], function* ({ platform, network, nodes }) {
  if (platform !== "existing") return;
  for (const [index, { role, mac }] of nodes.entries()) {
    const reasons = [
      network.addressing === "meta" && "network.addressing 'meta'",
      network.vlan?.mode === "trunk" && "network.vlan.mode 'trunk'",
      network.vip !== undefined && network.vipBy === "talos" && role === "controlplane" && "network.vip",
    ].filter((reason) => reason !== false);
    if (mac === undefined && reasons.length > 0) {
      yield {
        path: `nodes[${index}].mac`,
        message: `is missing: by it the config finds the node's NIC for ${reasons.join(", ")}`,
      };
    }
  }
});

export const nameservers = rule(["network"], function* ({ network }) {
  for (const [index, address] of network.nameservers.entries()) {
    if (network.nameservers.indexOf(address) < index) {
      yield { path: `network.nameservers[${index}]`, message: `${address} is listed before: remove one` };
    }
  }
});
