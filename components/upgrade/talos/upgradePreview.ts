// What a preview says of a Talos upgrade, from the state and the inputs alone.
import type { Note } from "../../engine/resourceProvider.ts";
import type { Role } from "../../model/role.ts";
import { minorOf } from "../../talos/config/versions.ts";
import type { WantedTalos } from "../../talos/config/wantedTalos.ts";
import type { Parallel } from "../../talos/nodes/lanes.ts";
import type { NodeSystem } from "./upgradeCluster.ts";
import { upgradeSteps } from "./upgradeOrder.ts";

/** A node that is about to get another Talos. */
export interface PlannedNode {
  readonly name: string;
  readonly role: Role;
  readonly from: NodeSystem;
  readonly to: WantedTalos;
}

export interface UpgradePlan {
  readonly nodes: readonly PlannedNode[];
  readonly parallel: Parallel;
  readonly drains: boolean;
  /** How long the last upgrades of nodes took. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** One line for each node, in the order in which they change. */
export function upgradeNote({ nodes, parallel, drains, seconds }: UpgradePlan): Note {
  const steps = upgradeSteps(nodes, parallel);
  const each = estimate(seconds);
  const rounds = steps.reduce((sum, step) => sum + Math.ceil(step.nodes.length / step.lanes), 0);
  const lines = steps.flatMap((step) =>
    step.nodes.map((node) => {
      const lanes = step.lanes > 1 ? `, ${step.lanes} workers at a time` : "";
      const time = each === undefined ? "" : `, about ${inWords(seconds[node.name] ?? each)}`;
      return `${change(node)}: ${drains ? "drained, " : ""}reboots once${lanes}${time}`;
    }),
  );
  const time =
    each === undefined ? "; how long a node takes is not known yet" : `; about ${inWords(rounds * each)} in all`;
  const isOlder = nodes.some(({ from, to }) => (minorOf(to.version) ?? 0) < (minorOf(from.version) ?? 0));
  const heading = `Talos ${isOlder ? "GOES BACK to an older version" : "is upgraded"} in this order${time}`;
  return {
    text: [heading, ...lines.map((line, at) => `  ${at + 1}. ${line}`)].join("\n"),
    as: isOlder ? "warning" : "info",
  };
}

function change({ name, from, to }: PlannedNode): string {
  const versions = from.version === to.version ? `Talos ${to.version}` : `Talos ${from.version} -> ${to.version}`;
  const { schematic } = to;
  if (schematic === undefined || schematic === from.schematic) return `${name} ${versions}`;
  return `${name} ${versions}, schematic ${short(from.schematic)} -> ${short(schematic)}`;
}

function short(schematic: string): string {
  return schematic === "" ? "none" : schematic.slice(0, 8);
}

/** Seconds that a node takes, from all that are known: the middle one. */
function estimate(seconds: Readonly<Record<string, number>>): number | undefined {
  const sorted = Object.values(seconds).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Rounded as the estimate deserves. */
function inWords(seconds: number): string {
  return seconds < 90 ? `${Math.max(10, Math.round(seconds / 10) * 10)} s` : `${Math.round(seconds / 60)} min`;
}
