import { rule } from "./rule.ts";

/** S4.3: what a DHCP server would provide must be set if there is none. */
export const staticAddressing = rule(["network"], function* ({ network }) {
  if (network.addressing !== "dhcp") {
    const reason = `network.addressing is '${network.addressing}', so nodes do not get it by DHCP`;
    if (network.gateway === undefined) yield { path: "network.gateway", message: `is missing: ${reason}` };
    if (network.nameservers.length === 0) yield { path: "network.nameservers", message: `is empty: ${reason}` };
  }
});

/** A node in maintenance has no config and so no VLAN: on a trunk the tag must be known before, or its frames are untagged and it is unreachable. */
export const vlanTrunk = rule(["network", "image"], function* ({ network, image }) {
  const hasTag = network.addressing !== "dhcp" || image.kernelArgs.some((arg) => arg.startsWith("vlan="));
  if (network.vlan?.mode === "trunk" && !hasTag) {
    yield {
      path: "network.vlan.mode",
      message:
        "'trunk' with network.addressing 'dhcp' leaves the node without its tag until it has a config: use mode 'access', addressing 'meta' or 'nocloud', or a kernel argument vlan= in image.kernelArgs",
    };
  }
});

/** A config identifies its NIC by the MAC if the platform neither fixes NICs' names nor lets MACs be chosen. */
export const nicMacs = rule(["platform", "network", "nodes"], function* ({ platform, network, nodes }) {
  if (platform.nicNames !== undefined || platform.choosesMacs) return;
  for (const [index, { role, mac }] of nodes.entries()) {
    const reasons = [
      network.addressing === "meta" && "network.addressing 'meta'",
      network.vlan?.mode === "trunk" && "network.vlan.mode 'trunk'",
      network.vip !== undefined && network.vipBy === "talos" && role === "controlplane" && "network.vip",
    ].filter((reason) => reason !== false);
    if (mac === undefined && reasons.length > 0) {
      yield {
        path: `nodes[${index}].mac`,
        message: `is missing: the config identifies the node's NIC by it, for ${reasons.join(", ")}`,
      };
    }
  }
});

export const nameservers = rule(["network"], function* ({ network }) {
  for (const [index, address] of network.nameservers.entries()) {
    if (network.nameservers.indexOf(address) < index) {
      yield { path: `network.nameservers[${index}]`, message: `${address} is listed twice: remove one` };
    }
  }
});
