// What the engine did in a run, from its event log, which masks secrets: each step with its times and messages. No value of a resource is read.
import { partsOf, withoutMarkup } from "../drift/engineEvents.ts";
import type { Attempt } from "../resume/resumedUp.ts";

/** One operation on one resource. Moments are milliseconds since 1970. */
export interface Step {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** "create", "update", "delete", "create-replacement" ... */
  readonly op: string;
  readonly began: number;
  readonly ended: number;
  readonly outcome: "done" | "failed" | "interrupted";
  /** The texts of its row meanwhile: what a gate waited for, retries. */
  readonly texts: readonly { readonly at: number; readonly text: string }[];
  /** Why it failed. */
  readonly errors: readonly string[];
}

interface Metadata {
  readonly op: string;
  readonly urn: string;
  readonly old?: { readonly custom?: boolean } | null;
  readonly new?: { readonly custom?: boolean } | null;
}

interface EngineEvent {
  readonly resourcePreEvent?: { readonly metadata: Metadata; readonly planning?: boolean };
  readonly resOutputsEvent?: { readonly metadata: Metadata; readonly planning?: boolean };
  readonly resOpFailedEvent?: { readonly metadata: Metadata };
  readonly diagnosticEvent?: { readonly urn?: string; readonly message: string; readonly severity: string };
}

/** Operations that do nothing, or only change the state. */
const idle = ["same", "discard-replaced", "remove-pending-replace", "replace"];

/** In the order in which they started. Empty if the engine changed nothing. */
export function stepsOf(attempts: readonly Pick<Attempt, "ended" | "lines">[]): Step[] {
  return attempts.flatMap(stepsIn).sort((a, b) => a.began - b.began);
}

function stepsIn({ ended, lines }: Pick<Attempt, "ended" | "lines">): Step[] {
  const open = new Map<string, { op: string; began: number; texts: { at: number; text: string }[] }>();
  const steps: Step[] = [];
  const errors = new Map<string, string[]>();
  const close = (urn: string, at: number, outcome: Step["outcome"]) => {
    const begun = open.get(urn);
    if (begun === undefined) return;
    open.delete(urn);
    const said = errors.get(urn) ?? [];
    errors.set(urn, said);
    steps.push({ urn, ...partsOf(urn), ...begun, ended: at, outcome, errors: outcome === "done" ? [] : said });
  };
  for (const { at, text } of lines) {
    const event = parsed(text);
    const { resourcePreEvent: pre, resOutputsEvent: out, resOpFailedEvent: failed, diagnosticEvent: said } = event;
    if (pre !== undefined && !pre.planning && isWork(pre.metadata)) {
      open.set(pre.metadata.urn, { op: pre.metadata.op, began: at, texts: [] });
    }
    if (out !== undefined && !out.planning) close(out.metadata.urn, at, "done");
    if (failed !== undefined) close(failed.metadata.urn, at, "failed");
    if (said?.urn === undefined) continue;
    const message = withoutMarkup(said.message);
    if (said.severity === "error") {
      errors.set(said.urn, errors.get(said.urn) ?? []);
      errors.get(said.urn)?.push(message);
    } else open.get(said.urn)?.texts.push({ at, text: message });
  }
  for (const urn of open.keys()) close(urn, ended, "interrupted");
  return steps;
}

/** A component creates nothing itself, and neither does a provider that the engine adds for a plugin. */
function isWork({ op, urn, old, new: made }: Metadata): boolean {
  const isDefaultProvider = /\bpulumi:providers:[\w-]+::default(_|$)/.test(urn);
  return !idle.includes(op) && !isDefaultProvider && (made ?? old)?.custom === true;
}

/** Undefined for an incomplete line. */
function parsed(line: string): EngineEvent {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
