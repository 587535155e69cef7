// Keys of an environment's file in a namespace that nothing reads: the engine passes them on, and they have no effect.

import { suggest } from "../../components/model/suggest.ts";
import type { Fault } from "../base/fault.ts";
import { clusterConfigSchema } from "../schema/clusterConfig.ts";
import { projectName } from "./settingsFile.ts";

/** Of the providers that have settings of their own, and of the engine. */
const known = ["hcloud", "proxmoxve", "kubernetes", "command", "pulumi"];

/** `keys` are those of other namespaces than the project's, as they are in the file. A namespace that resembles none of ours may be another program's. */
export function foreignNamespaceFaults(keys: readonly string[]): readonly Fault[] {
  const own = Object.keys(clusterConfigSchema.shape);
  return keys.flatMap((key) => {
    const [namespace = "", name = ""] = key.split(":");
    if (known.includes(namespace)) return [];
    if (!own.includes(name) && suggest(namespace, [projectName]) === undefined) return [];
    return [
      {
        path: key,
        message: `has the namespace '${namespace}', which Sluice does not read: write ${projectName}:${name}`,
      },
    ];
  });
}
