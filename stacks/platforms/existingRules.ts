import type { existingNode, existing as section } from "../../components/model/settings/existing.ts";
import { rulesOn } from "../base/rule.ts";
import type { PlatformConfig } from "./platform.ts";

export type ExistingConfig = PlatformConfig<typeof section, typeof existingNode>;
const rule = rulesOn<ExistingConfig>();

const noSeed = rule(["network"], function* ({ network }) {
  if (network.addressing === "nocloud") {
    yield {
      path: "network.addressing",
      message:
        "'nocloud' needs a hypervisor that provides the seed, and platform 'existing' has none: use 'meta' or 'dhcp'",
    };
  }
});

/** Two nodes with the same reach would be one machine with two configs. */
const nodeReach = rule(["nodes"], function* ({ nodes }) {
  const places = nodes.map(({ reach, address }) => reach ?? address);
  for (const [index, { reach }] of nodes.entries()) {
    const twin = places.findIndex((place, other) => other !== index && place === reach);
    if (reach === undefined || twin === -1 || (nodes[twin]?.reach !== undefined && twin > index)) continue;
    yield {
      path: `nodes[${index}].reach`,
      message: `${reach} is also where nodes[${twin}] (${nodes[twin]?.name}) is reached; every node needs its own`,
    };
  }
});

/** An address that another thing has leads to that. */
const reachOfOthers = rule(["network", "nodes"], function* ({ network: { gateway, vip, nameservers }, nodes }) {
  for (const [index, { reach }] of nodes.entries()) {
    if (reach === undefined) continue;
    const owner =
      reach === vip
        ? "the VIP, which moves"
        : reach === gateway
          ? "the gateway"
          : nameservers.includes(reach) && "a nameserver";
    if (owner)
      yield {
        path: `nodes[${index}].reach`,
        message: `${reach} is the address of ${owner}: set one of this machine alone`,
      };
  }
});

export const existingRules = [noSeed, nodeReach, reachOfOthers];
