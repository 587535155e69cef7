import type { HetznerNodeSettings, HetznerSettings } from "../../model/settings/hetzner.ts";
import type { NodeSettings } from "../../model/settings/node.ts";

/** Type and location of a node's server. */
export function serverOf(
  node: Pick<NodeSettings, "role"> & HetznerNodeSettings,
  { serverTypes, location }: Pick<HetznerSettings, "serverTypes" | "location">,
) {
  return { serverType: node.serverType ?? serverTypes[node.role], location: node.location ?? location };
}
