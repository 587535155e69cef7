// The lanes of a timeline: one for each resource that a run changed, in the order in which they started.
import type { TraceLine } from "../../components/engine/trace.ts";
import { gateOf, kindOf } from "../base/resourceWords.ts";
import type { Portion } from "./criticalPath.ts";
import type { Step } from "./steps.ts";

export interface Lane {
  /** "hcloud server", or the name of a gate. */
  readonly title: string;
  readonly name: string;
  readonly isGate: boolean;
  readonly isCritical: boolean;
  readonly spans: readonly Span[];
  /** Its events: what became true, what was waited for, what failed. */
  readonly notes: readonly Note[];
}

export interface Span {
  readonly kind: "work" | "waiting" | "stable" | "failed" | "interrupted";
  readonly began: number;
  readonly ended: number;
}

export interface Note {
  readonly at: number;
  readonly kind: "fact" | "text" | "error" | "outcome";
  readonly text: string;
}

export interface LaneSources {
  readonly steps: readonly Step[];
  readonly path: readonly Portion[];
  /** What the providers of dynamic resources recorded. */
  readonly trace: readonly TraceLine[];
  /** What became true in a lab while a gate waited for it. */
  readonly factsOf: (line: TraceLine) => readonly { readonly at: number; readonly text: string }[];
  /** What a gate observed when it opened, in words. */
  readonly evidenceOf: (gate: string) => string;
}

export function lanesOf({ steps, path, trace, factsOf, evidenceOf }: LaneSources): Lane[] {
  const critical = new Set(path.map(({ step }) => step));
  return [...Map.groupBy(steps, ({ urn }) => urn).values()].map((own): Lane => {
    const [{ type, name }] = own as [Step];
    const gate = gateOf(type);
    const kindOfType = type.replace(/^pulumi-nodejs:dynamic\//, "");
    const lines = trace.filter((line) => line.type === kindOfType && line.name === name);
    const notes = own.flatMap((step) => [...notesOf(step), ...outcomeOf(step, gate, evidenceOf)]);
    const facts = lines.flatMap(factsOf).map(({ at, text }): Note => ({ at, kind: "fact", text }));
    return {
      title: gate ?? kindOf(type),
      name,
      isGate: gate !== undefined,
      isCritical: own.some((step) => critical.has(step)),
      spans: own.flatMap((step) => spansOf(step, lines)),
      notes: [...facts, ...notes].sort((a, b) => a.at - b.at),
    };
  });
}

/** A gate that opened is divided at the start and the end of each stability window. */
function spansOf(step: Step, lines: readonly TraceLine[]): Span[] {
  const { began, ended, outcome } = step;
  if (outcome !== "done") return [{ kind: outcome, began, ended }];
  const waits = lines.filter((line) => isDuring(line, step)).flatMap((line) => line.waits ?? []);
  if (waits.length === 0) return [{ kind: "work", began, ended }];
  return waits.flatMap(({ began, held, opened }): Span[] => [
    { kind: "waiting", began, ended: held },
    ...(opened > held ? [{ kind: "stable", began: held, ended: opened } as const] : []),
  ]);
}

function notesOf({ texts, errors, ended }: Step): Note[] {
  const said = texts
    .filter(({ text }, place) => text !== texts[place - 1]?.text)
    .map(({ at, text }): Note => ({ at, kind: "text", text }));
  return [...shortened(said), ...errors.map((text): Note => ({ at: ended, kind: "error", text }))];
}

/** The number of messages of a step that are shown from its start, and from its end. */
const mostMessages = 20;

function shortened(notes: readonly Note[]): Note[] {
  const left = notes.slice(mostMessages, -mostMessages);
  const [first] = left;
  if (first === undefined) return [...notes];
  const gap: Note = { ...first, text: `… ${left.length} more` };
  return [...notes.slice(0, mostMessages), gap, ...notes.slice(-mostMessages)];
}

function outcomeOf(
  { ended, outcome, op }: Step,
  gate: string | undefined,
  evidenceOf: LaneSources["evidenceOf"],
): Note[] {
  if (outcome === "interrupted") return [{ at: ended, kind: "outcome", text: "interrupted" }];
  if (outcome === "failed") return [];
  if (gate === undefined) return op === "create" ? [] : [{ at: ended, kind: "outcome", text: op }];
  const evidence = evidenceOf(gate);
  return [{ at: ended, kind: "outcome", text: evidence === "" ? "opened" : `opened: ${evidence}` }];
}

function isDuring(line: TraceLine, { began, ended }: Step): boolean {
  return line.began <= ended && line.ended >= began;
}
