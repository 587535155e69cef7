import { didYouMean } from "../../components/model/suggest.ts";
import type { ClusterConfig } from "../schema/clusterConfig.ts";
import { secretKeys } from "../schema/clusterConfig.ts";
import { switches } from "../schema/switches.ts";
import { rule } from "./rule.ts";

export interface ListedPatch {
  readonly path: string;
  readonly patch: ClusterConfig["patches"][number];
  /** No part of the patch's content may be in a message, only its place. */
  readonly isSecret: boolean;
}

/** Both lists, in the order in which they are merged. */
export function allPatches(config: Pick<ClusterConfig, "patches" | "secretPatches">): ListedPatch[] {
  return (["patches", "secretPatches"] as const).flatMap((list) =>
    config[list].map((patch, index) => ({ path: `${list}[${index}]`, patch, isSecret: secretKeys.has(list) })),
  );
}

/** S2.2: a patch with an unknown condition would silently never be written. */
export const patchConditions = rule(["patches", "secretPatches"], function* (config) {
  const known = Object.keys(switches);
  for (const { path, patch, isSecret } of allPatches(config)) {
    if (patch.when === undefined || known.includes(patch.when)) continue;
    const hint = isSecret ? "" : didYouMean(patch.when, known);
    yield {
      path: `${path}.when`,
      message: `${isSecret ? "the value" : `'${patch.when}'`} is not a switch${hint || `; there are ${known.join(", ")}`}`,
    };
  }
});

/** A patch for an unknown node, or for one that its role excludes, would be written nowhere. */
export const patchNodes = rule(["patches", "secretPatches", "nodes"], function* ({ nodes, ...config }) {
  for (const { path, patch, isSecret } of allPatches(config)) {
    for (const [index, name] of (patch.nodes ?? []).entries()) {
      const shown = isSecret ? "the value" : `'${name}'`;
      const node = nodes.find((one) => one.name === name);
      if (node === undefined) {
        const names = nodes.map((one) => one.name).join(", ");
        yield { path: `${path}.nodes[${index}]`, message: `${shown} is not a node of the cluster; there are ${names}` };
      } else if (patch.role !== undefined && patch.role !== node.role) {
        yield {
          path: `${path}.nodes[${index}]`,
          message: `${shown} is a ${node.role}, but the patch is for role ${patch.role}: remove the node or the role`,
        };
      }
    }
  }
});

/** Errors and previews name patches. */
export const patchNames = rule(["patches", "secretPatches"], function* (config) {
  const all = allPatches(config);
  for (const [index, { path, patch, isSecret }] of all.entries()) {
    const earlier = all.slice(0, index).find((other) => other.patch.name === patch.name);
    if (earlier) {
      yield {
        path: `${path}.name`,
        message: `${isSecret ? "the value" : `'${patch.name}'`} is also the name of ${earlier.path}; every patch needs its own`,
      };
    }
  }
});
