// What the engine asks of a gate. The provider in the state only points here, so it is always this code that runs.
import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "./clock.ts";
import type { GateOutputs, GateProperties } from "./gateProperties.ts";
import { describe, isUnseen } from "./history.ts";
import { interruption } from "./interruption.ts";
import { openGate } from "./openGate.ts";
import { told, waitAt } from "./passGate.ts";
import { engineRow } from "./progress.ts";
import { findGate } from "./registry.ts";

/** Seconds that the one look of a refresh may take, however dead the cluster is: all gates look at the same time. */
const lookSeconds = 8;
/** Seconds after which what does not hold is taken for so: a node that is just then probed may still answer. */
const patience = 2;

export async function create(properties: GateProperties): Promise<{ id: string; outs: GateOutputs }> {
  return { id: properties.gate, outs: await openGate(properties, systemClock, interruption) };
}

/** Credentials that were renewed are only kept; anything else that changed is a reason to wait again. */
export async function update(_id: string, olds: GateOutputs, news: GateProperties): Promise<{ outs: GateOutputs }> {
  const { evidence, waited } = olds;
  const isProven = whyAgain(olds, news) === undefined;
  return {
    outs: isProven ? { ...news, evidence, waited, drift: [] } : await openGate(news, systemClock, interruption),
  };
}

/** Offline, as it runs in previews, too. What was found on refresh stands in no input, so it is told in the row. */
export async function diff(_id: string, olds: GateOutputs, news: GateProperties): Promise<{ changes: boolean }> {
  const why = whyAgain(olds, news);
  if (why !== undefined) await tell(news.row, `has to be proven again: ${why}`);
  return { changes: why !== undefined || !isDeepStrictEqual(olds.credentials, news.credentials) };
}

function whyAgain(olds: GateOutputs, news: GateProperties): string | undefined {
  if (olds.drift.length > 0) return olds.drift.join("; ");
  const parts = { gate: "gate", inputs: "inputs", triggers: "triggers", secretTriggers: "secrets" } as const;
  const changed = (Object.keys(parts) as (keyof typeof parts)[]).filter(
    (key) => !isDeepStrictEqual(olds[key], news[key]),
  );
  return changed.length === 0 ? undefined : `${changed.map((key) => parts[key]).join(" and ")} changed`;
}

/** Looks once and never throws: a cluster that is gone must not stand in the way of anything. */
export async function read(id: string, outs: GateOutputs): Promise<{ id: string; props: GateOutputs }> {
  const { drift, unknown, evidence, remarks } = await look(outs, systemClock);
  if (drift.length > 0) await note(outs.row, `is not so any more: ${drift.join("; ")}`, "warning");
  if (unknown !== undefined) await note(outs.row, `could not be looked at${unknown}`, "warning");
  const news = Object.entries(evidence).filter(([key, seen]) => !isDeepStrictEqual(seen, outs.evidence[key]));
  if (news.length > 0) await tell(outs.row, `is open, and now sees ${JSON.stringify(Object.fromEntries(news))}`);
  // Who reads a refresh takes a warning for drift, or for what nobody could look at: what the state tells of already is neither.
  for (const remark of remarks) await note(outs.row, remark, news.length > 0 ? "warning" : "info");
  return { id, props: { ...outs, evidence: { ...outs.evidence, ...evidence }, drift } };
}

interface Look {
  /** What is no longer so. */
  readonly drift: readonly string[];
  /** What nobody could look at: that is no drift, and no reason to prove anything again. */
  readonly unknown?: string;
  /** What was seen, where the gate is open: the state tells of the last time. That something else is seen by now is no drift. */
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly remarks: readonly string[];
}

async function look(outs: GateOutputs, clock: Clock): Promise<Look> {
  const nothing = { drift: [], evidence: {}, remarks: [] };
  try {
    const definition = await findGate(outs.gate);
    const end = await waitAt(definition, outs, { deadline: lookSeconds, stable: 0, patience }, { clock });
    if (end.kind === "opened") return { drift: [], ...told(definition, outs, end.observation) };
    const unknown = end.unmet.filter(isUnseen).map(describe).join("; ");
    const drift = end.unmet.filter((one) => !isUnseen(one)).map(describe);
    return { ...nothing, drift, ...(unknown !== "" && { unknown: ` in ${lookSeconds} s: ${unknown}` }) };
  } catch (error) {
    return { ...nothing, unknown: `: ${(error as Error).message}` };
  }
}

async function tell(urn: string, text: string): Promise<void> {
  const row = engineRow(urn);
  await row.send(text);
  row.close();
}

/** As what stays to be read after the run. */
async function note(urn: string, text: string, severity: "info" | "warning"): Promise<void> {
  const row = engineRow(urn);
  await row.note(text, severity);
  row.close();
}
