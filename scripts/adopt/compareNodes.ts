// How the machine configs of running nodes differ from those that an `up` would send, and what would make them equal. Pure, and without secrets in any text.
import { configChanges } from "../../components/talos/config/configDiff.ts";
import { changeText, placeOf } from "../../components/talos/config/configSummary.ts";
import { rebootChanges } from "../../components/talos/config/rebootRules.ts";
import { talosFaults, wantedTalos } from "../../components/talos/config/wantedTalos.ts";
import { insteadOfPatch } from "../../stacks/rules/ownedConfig.ts";
import type { RunningNode } from "./lookAtCluster.ts";

/** Something that an `up` would change on nodes. */
export interface Difference {
  readonly nodes: readonly string[];
  readonly text: string;
  readonly reboots: boolean;
  /** The key that decides about it; undefined if a patch does. */
  readonly key: string | undefined;
}

export type ComparedNode = Pick<RunningNode, "name" | "config" | "persistent" | "version" | "schematic" | "stage">;

/** In the order of the configs, with the nodes that have the same together. `wanted` has the configs by node name. */
export function configDifferences(
  nodes: readonly ComparedNode[],
  wanted: Readonly<Record<string, string>>,
): readonly Difference[] {
  const all = nodes.flatMap((node) =>
    ofNode(node, wanted[node.name] ?? "").map((one) => ({ ...one, node: node.name })),
  );
  const groups = Map.groupBy(all, ({ text, reboots }) => JSON.stringify([text, reboots]));
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { node, ...difference } = first;
    return [{ ...difference, nodes: [node, ...others.map((other) => other.node)] }];
  });
}

type OfNode = Omit<Difference, "nodes">;

function ofNode(node: ComparedNode, wanted: string): readonly OfNode[] {
  const changes = configChanges(node.config, wanted);
  if (changes === undefined) return [{ text: "its machine config cannot be read", reboots: false, key: undefined }];
  const reboots = new Set(rebootChanges(node.config, wanted).map(placeOf));
  return [
    ...changes.map((change) => ({
      text: changeText(change),
      reboots: reboots.has(placeOf(change)),
      key: insteadOfPatch(change),
    })),
    ...staged(node),
    ...talos(node, wanted),
  ];
}

/** A config that someone has sent for the next boot. */
function staged({ config, persistent }: ComparedNode): readonly OfNode[] {
  const waiting = configChanges(config, persistent) ?? [];
  if (waiting.length === 0) return [];
  const places = waiting.map(placeOf).join(", ");
  return [
    {
      text: `another config waits for its next boot, which differs in ${places}`,
      reboots: false,
      key: "reboot the node, or send it its config again",
    },
  ];
}

function talos(node: ComparedNode, wanted: string): readonly OfNode[] {
  const installed = wantedTalos(wanted);
  const faults = installed === undefined ? [] : talosFaults(node, installed);
  return faults.map((text) => ({ text, reboots: true, key: "use talosVersion and image" }));
}
