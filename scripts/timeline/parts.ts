// Where the time of a run was spent: its critical path, by what was waited for.
import type { TracedWait } from "../../components/engine/trace.ts";
import { hasWindow } from "../base/resourceWords.ts";
import type { Portion } from "./criticalPath.ts";

export const partNames = {
  resources: "resources, until they were created, changed or deleted",
  gates: "gates, until their conditions were met",
  windows: "stability windows of gates",
  engine: "between steps, in the engine and the program",
  resuming: "between two runs of the engine",
} as const;

export type PartName = keyof typeof partNames;

/** Milliseconds by part. `waits` are those of the gates, `runs` when the engine ran. */
export function partsOfTime(
  path: readonly Portion[],
  waits: readonly TracedWait[],
  runs: readonly { readonly began: number; readonly ended: number }[],
): Readonly<Record<PartName, number>> {
  const parts: Record<PartName, number> = { resources: 0, gates: 0, windows: 0, engine: 0, resuming: 0 };
  const windows = merged(waits.map(({ held, opened }) => ({ began: held, ended: opened })));
  for (const portion of path) {
    const length = portion.ended - portion.began;
    if (portion.step === undefined) {
      const running = overlap(portion, runs);
      parts.engine += running;
      parts.resuming += length - running;
    } else if (!hasWindow(portion.step.type)) parts.resources += length;
    else {
      const stable = overlap(portion, windows);
      parts.windows += stable;
      parts.gates += length - stable;
    }
  }
  return parts;
}

interface Span {
  readonly began: number;
  readonly ended: number;
}

/** How much of a span is covered by the others, which do not overlap each other. */
function overlap(span: Span, others: readonly Span[]): number {
  return others
    .map(({ began, ended }) => Math.min(span.ended, ended) - Math.max(span.began, began))
    .reduce((sum, one) => sum + Math.max(0, one), 0);
}

/** The same time in spans that do not overlap: gates may be side by side. */
function merged(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const { began, ended } of spans.toSorted((one, other) => one.began - other.began)) {
    const last = all.at(-1);
    if (last === undefined || began > last.ended) all.push({ began, ended });
    else all[all.length - 1] = { began: last.began, ended: Math.max(last.ended, ended) };
  }
  return all;
}
