import { rule } from "./rule.ts";

/** Which keys of a node belong to which platform; on any other they would be read by nobody. */
const nodeKeys = {
  vmId: "proxmox",
  host: "proxmox",
  size: "proxmox",
  serverType: "hetzner",
  location: "hetzner",
  reach: "existing",
} as const;

/** A section of another platform is left over from another environment, and who reads the file takes it for true. */
export const foreignSections = rule(["platform", "hetzner", "proxmox", "existing"], function* (config) {
  for (const section of ["hetzner", "proxmox", "existing"] as const) {
    if (section !== config.platform && config[section] !== undefined) {
      yield { path: section, message: `is for platform '${section}', but platform is '${config.platform}': remove it` };
    }
  }
});

export const foreignNodeKeys = rule(["platform", "nodes"], function* ({ platform, nodes }) {
  for (const [index, node] of nodes.entries()) {
    for (const [key, owner] of Object.entries(nodeKeys) as [keyof typeof nodeKeys, string][]) {
      if (node[key] !== undefined && owner !== platform) {
        yield {
          path: `nodes[${index}].${key}`,
          message: `is for platform '${owner}', but platform is '${platform}': remove it`,
        };
      }
    }
    if (node.uuid !== undefined && platform === "proxmox") {
      yield {
        path: `nodes[${index}].uuid`,
        message: "Proxmox gives each VM that it makes a UUID of its own: remove it",
      };
    }
    if (node.mac !== undefined && platform === "hetzner") {
      yield { path: `nodes[${index}].mac`, message: "Hetzner gives its servers their MACs: remove it" };
    }
  }
});
