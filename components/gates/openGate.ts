import type { Clock } from "./clock.ts";
import type { GateDefinition, GateSettings } from "./gateDefinition.ts";
import { GateFailure } from "./gateFailure.ts";
import { engineRow, Progress } from "./progress.ts";
import { findGate } from "./registry.ts";
import { waitFor } from "./waitLoop.ts";

/** A gate's properties as they are kept in the state. */
export interface GateProperties {
  readonly gate: string;
  /** What is looked at and what must be so, but for what opens the cluster. */
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly credentials: unknown;
  readonly settings: GateSettings;
  /** Stand for what the gate guards: when one changes, it has to be proven anew. */
  readonly triggers: readonly string[];
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface GateOutputs extends GateProperties {
  /** What was seen when the gate opened. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Seconds until it opened. */
  readonly waited: number;
  /** What a later look found not to be so any more. */
  readonly drift: readonly string[];
}

/** Waits at a gate, tells the row how it goes, and throws when it does not open. */
export async function openGate(properties: GateProperties, clock: Clock): Promise<GateOutputs> {
  const { settings, gate } = properties;
  const row = engineRow(properties.row);
  const progress = new Progress(row.send, clock);
  const show = (text: string) => progress.show(text);
  try {
    const definition = await findGate(gate);
    const proven = await pass(definition, properties, settings, clock, show);
    const trial = definition.trial?.(inputsOf(properties));
    const left = { deadline: Math.max(settings.deadline - proven.seconds, 0), stable: 0 };
    const tried = trial && (await pass(trial, properties, left, clock, show));
    const waited = Math.round((proven.seconds + (tried?.seconds ?? 0)) * 10) / 10;
    progress.end();
    await row.send(`open after ${waited} s`);
    return { ...properties, evidence: { ...proven.evidence, ...tried?.evidence }, waited, drift: [] };
  } finally {
    progress.end();
    row.close();
  }
}

async function pass(
  definition: GateDefinition<unknown, unknown>,
  properties: GateProperties,
  settings: GateSettings,
  clock: Clock,
  onProgress: (text: string) => void,
): Promise<{ evidence: Readonly<Record<string, unknown>>; seconds: number }> {
  const end = await waitAt(definition, properties, settings, clock, onProgress);
  if (end.kind !== "opened") throw new GateFailure(definition, end);
  return { evidence: definition.evidence(end.observation), seconds: end.seconds };
}

/** One wait for what a gate names; nothing is tried out. */
export function waitAt(
  definition: GateDefinition<unknown, unknown>,
  properties: GateProperties,
  settings: GateSettings,
  clock: Clock,
  onProgress: (text: string) => void = () => undefined,
) {
  const inputs = inputsOf(properties);
  return waitFor({
    conditions: definition.conditions(inputs),
    settings,
    observe: (signal) => definition.observe(inputs, signal, clock),
    clock,
    onProgress,
  });
}

function inputsOf({ inputs, credentials }: GateProperties): unknown {
  return { ...inputs, credentials };
}
