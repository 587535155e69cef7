// The timeline page that each `up` leaves.
import { join } from "node:path";
import type { TraceLine } from "../../components/engine/trace.ts";
import { findGate } from "../../components/gates/registry.ts";
import { writeWhole } from "../base/files.ts";
import { workFolder } from "../base/paths.ts";
import type { Attempt } from "../resume/resumedUp.ts";
import type { Run } from "../summary/state/run.ts";
import type { Fact } from "../summary/state/timeline.ts";
import { factsOf } from "../summary/timing/timing.ts";
import { maskSecrets } from "../workflows/maskSecrets.ts";
import { criticalPath } from "./criticalPath.ts";
import { lanesOf } from "./lanes.ts";
import { timelinePage } from "./page.ts";
import { partsOfTime } from "./parts.ts";
import { stepsOf } from "./steps.ts";

export interface TimelineRun {
  readonly environment: string;
  readonly run: Run;
  readonly attempts: readonly Attempt[];
  readonly hasFailed: boolean;
}

/**
 * Returns the file. If a run changed nothing, or the file cannot be written, the file of the run before stays: the outcome of the run does not depend on it.
 */
export async function writeTimeline(timeline: TimelineRun): Promise<string | undefined> {
  const file = join(workFolder, "timeline", `${timeline.environment}.html`);
  try {
    const html = timelineHtml(timeline);
    if (html === undefined) return undefined;
    await writeWhole(file, html, 0o600);
    return file;
  } catch (error) {
    console.error(`sluice: cannot write the timeline to ${file}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Undefined if the engine changed nothing. It starts with the first change, so a preview and its question are not included. */
export function timelineHtml({ environment, run, attempts, hasFailed }: TimelineRun): string | undefined {
  const steps = stepsOf(attempts);
  const [first] = steps;
  if (first === undefined) return undefined;
  const { began } = first;
  const ended = Math.max(...steps.map((step) => step.ended));
  const runs = attempts.map((attempt) => ({
    began: Math.max(attempt.began, began),
    ended: Math.min(attempt.ended, ended),
  }));
  const trace = run.trace?.lines ?? [];
  const path = criticalPath(steps, run.state.dependencies, began);
  const lanes = lanesOf({
    steps,
    path,
    trace,
    factsOf: (line: TraceLine) => factsOf(run, line).map((fact) => factNote(fact, run.timeline?.started ?? 0)),
    evidenceOf: (name) => findGate(name)?.words(run.state.gates.get(name)?.evidence ?? {}) ?? "",
  });
  const waits = trace.flatMap((line) => line.waits ?? []);
  const page = { environment, began, ended, lanes, parts: partsOfTime(path, waits, runs), runs, hasFailed };
  return maskSecrets(timelinePage(page));
}

function factNote({ at, subject, what, value, detail = {} }: Fact, started: number) {
  return { at: started + at * 1000, text: [subject, what, value, ...Object.values(detail)].join(" ") };
}
