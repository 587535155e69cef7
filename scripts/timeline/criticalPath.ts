// The critical path of a run: the steps that followed each other until the end, and the time between them.
import type { Step } from "./steps.ts";

/** A part of the critical path: a step, or the time until the next one could start. */
export interface Portion {
  readonly step?: Step;
  readonly began: number;
  readonly ended: number;
}

/** What each resource waited for, by URN; empty for a resource that is not in the state. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Milliseconds by which the engine may report an end later than the next start. */
const toleranceMs = 50;

/** From `began` to the end of the last step, without a break. */
export function criticalPath(steps: readonly Step[], dependencies: Dependencies, began: number): Portion[] {
  const path: Portion[] = [];
  // Of steps that began at the same moment, those before are the ones that ended first.
  let rest = [...steps].sort((a, b) => a.began - b.began);
  let step = latest(rest);
  let until = step?.ended ?? began;
  while (step !== undefined) {
    const [last, start] = [step, Math.min(step.began, until)];
    path.unshift({ step: last, began: start, ended: until });
    rest = rest.slice(0, rest.indexOf(last)).filter((one) => one.ended <= last.began + toleranceMs);
    const waitedFor = dependencies.get(last.urn) ?? [];
    step = latest(rest.filter(({ urn }) => urn === last.urn || waitedFor.includes(urn))) ?? latest(rest);
    const before = Math.min(step?.ended ?? began, start);
    if (before < start) path.unshift({ began: before, ended: start });
    until = before;
  }
  return path;
}

function latest(steps: readonly Step[]): Step | undefined {
  return steps.reduce<Step | undefined>(
    (last, one) => (last === undefined || one.ended >= last.ended ? one : last),
    undefined,
  );
}
