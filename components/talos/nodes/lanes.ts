import type { ApplySettings } from "../../model/settings/time.ts";

/** How many nodes are changed at once: a number, or a share of all such as `25%`. */
export type Parallel = ApplySettings["parallel"];

/** A share is rounded up, so that at least one node is changed. */
export function laneCount(parallel: Parallel, nodes: number): number {
  const share = /^(\d+)%$/.exec(String(parallel))?.[1];
  const count = share === undefined ? Number(parallel) : Math.ceil((Number(share) / 100) * nodes);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`parallel is a number from 1 on, or a share such as '25%', not '${parallel}'`);
  return Math.min(count, Math.max(nodes, 1));
}

/** The node that each one waits for, by index: in each lane they go one after the other. Nodes added at the end of the list change nothing for the others. */
export function laneBefore(parallel: Parallel, nodes: number): readonly (number | undefined)[] {
  const count = laneCount(parallel, nodes);
  return Array.from({ length: nodes }, (_, place) => (place < count ? undefined : place - count));
}
