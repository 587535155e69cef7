// What the engine asks of a gate. The provider in the state only points here, so it is always this code that runs.
import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "./clock.ts";
import { describe } from "./history.ts";
import { type GateOutputs, type GateProperties, openGate, waitAt } from "./openGate.ts";
import { engineRow } from "./progress.ts";
import { findGate } from "./registry.ts";

/** Seconds that the one look of a refresh may take, however dead the cluster is. */
const lookSeconds = 4;

export async function create(properties: GateProperties): Promise<{ id: string; outs: GateOutputs }> {
  return { id: properties.gate, outs: await openGate(properties, systemClock) };
}

/** Credentials that were renewed are only kept; anything else that changed is a reason to wait again. */
export async function update(_id: string, olds: GateOutputs, news: GateProperties): Promise<{ outs: GateOutputs }> {
  const { evidence, waited } = olds;
  const isProven = whyAgain(olds, news) === undefined;
  return { outs: isProven ? { ...news, evidence, waited, drift: [] } : await openGate(news, systemClock) };
}

/** Offline, as it runs in previews, too. What was found on refresh stands in no input, so it is told in the row. */
export async function diff(_id: string, olds: GateOutputs, news: GateProperties): Promise<{ changes: boolean }> {
  const why = whyAgain(olds, news);
  if (why !== undefined) await tell(news.row, `has to be proven again: ${why}`);
  return { changes: why !== undefined || !isDeepStrictEqual(olds.credentials, news.credentials) };
}

function whyAgain(olds: GateOutputs, news: GateProperties): string | undefined {
  if (olds.drift.length > 0) return olds.drift.join("; ");
  const changed = (["gate", "inputs", "triggers"] as const).filter((key) => !isDeepStrictEqual(olds[key], news[key]));
  return changed.length === 0 ? undefined : `${changed.join(" and ")} changed`;
}

/** Looks once and never throws: a cluster that is gone must not stand in the way of anything. */
export async function read(id: string, outs: GateOutputs): Promise<{ id: string; props: GateOutputs }> {
  return { id, props: { ...outs, drift: await driftOf(outs, systemClock) } };
}

async function driftOf(outs: GateOutputs, clock: Clock): Promise<readonly string[]> {
  try {
    const definition = await findGate(outs.gate);
    const end = await waitAt(definition, outs, { deadline: lookSeconds, stable: 0 }, clock);
    return end.kind === "opened" ? [] : end.unmet.map(describe);
  } catch (error) {
    return [`cannot be looked at: ${(error as Error).message}`];
  }
}

async function tell(urn: string, text: string): Promise<void> {
  const row = engineRow(urn);
  await row.send(text);
  row.close();
}
