// The order in which nodes get another Talos.
import type { Role } from "../../model/role.ts";
import { laneCount, type Parallel } from "../../talos/nodes/lanes.ts";

export interface OrderedNode {
  readonly name: string;
  readonly role: Role;
}

/** Nodes of which only some change at the same time. */
export interface UpgradeStep<Node> {
  readonly nodes: readonly Node[];
  readonly lanes: number;
}

/**
 * First one worker, the canary: what fails on it costs least there. Then the control planes one at a time, then the other workers in lanes. A step starts when all
 * nodes of the one before are healthy.
 */
export function upgradeSteps<Node extends OrderedNode>(
  nodes: readonly Node[],
  parallel: Parallel,
): readonly UpgradeStep<Node>[] {
  const sorted = [...nodes].sort((a, b) => compareNames(a.name, b.name));
  const controlPlanes = sorted.filter(({ role }) => role === "controlplane");
  const [canary, ...workers] = sorted.filter(({ role }) => role === "worker");
  const steps = [
    { nodes: canary === undefined ? [] : [canary], lanes: 1 },
    { nodes: controlPlanes, lanes: 1 },
    { nodes: workers, lanes: laneCount(parallel, workers.length) },
  ];
  return steps.filter((step) => step.nodes.length > 0);
}

/** w-2 before w-10. */
const compareNames = new Intl.Collator("en", { numeric: true }).compare;

export interface NodeFailure<Node> {
  readonly node: Node;
  readonly error: unknown;
}

/**
 * Does the work for each node of a step, and returns the failures. After the first one no further node is started; those that have been started are waited for.
 */
export async function inLanes<Node>(
  { nodes, lanes }: UpgradeStep<Node>,
  work: (node: Node) => Promise<void>,
): Promise<readonly NodeFailure<Node>[]> {
  const waiting = [...nodes];
  const failures: NodeFailure<Node>[] = [];
  const lane = async () => {
    while (failures.length === 0) {
      const node = waiting.shift();
      if (node === undefined) return;
      await work(node).catch((error: unknown) => void failures.push({ node, error }));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return failures;
}
