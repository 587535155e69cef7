import { type TracedWait, traced } from "../trace/trace.ts";
import type { Clock } from "./clock.ts";
import type { GateDefinition, GateSettings } from "./gateDefinition.ts";
import { GateFailure } from "./gateFailure.ts";
import { lookFailure } from "./lookFailure.ts";
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
  /** Hashes of what must not be shown, likewise. */
  readonly secretTriggers?: readonly string[];
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export interface GateOutputs extends GateProperties {
  /** What was seen when the gate opened, or when it was last found open. */
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Seconds until it opened. */
  readonly waited: number;
  /** What a later look found not to be so any more. */
  readonly drift: readonly string[];
}

/** Waits at a gate, tells the row how it goes, and throws when it does not open. */
export async function openGate(
  properties: GateProperties,
  clock: Clock,
  interrupted?: AbortSignal,
): Promise<GateOutputs> {
  const row = engineRow(properties.row);
  const progress = new Progress(row.send, clock);
  try {
    const { evidence, remarks, seconds } = await traced(properties.row, clock, (onWait) =>
      passAll(properties, { clock, interrupted, onWait, onProgress: (text) => progress.show(text) }),
    );
    const waited = Math.round(seconds * 10) / 10;
    progress.end();
    await row.send(`open after ${waited} s`);
    for (const remark of remarks) await row.note(remark, "warning");
    return { ...properties, evidence, waited, drift: [] };
  } finally {
    progress.end();
    row.close();
  }
}

/** What a wait goes by, and whom it tells how it goes. */
interface Course {
  readonly clock: Clock;
  readonly interrupted: AbortSignal | undefined;
  readonly onProgress: (text: string) => void;
  readonly onWait: (wait: TracedWait) => void;
}

interface Passed {
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly remarks: readonly string[];
  readonly seconds: number;
}

/** Seconds that a trial has at least, where the gate's own wait has used up more of its deadline: a volume takes its time. */
const leastTrial = 60;

/** The gate's own wait, and then its trial in what is left of the time. */
async function passAll(properties: GateProperties, course: Course): Promise<Passed> {
  const { gate, settings } = properties;
  const definition = await findGate(gate);
  const proven = await pass(definition, properties, settings, course);
  const trial = definition.trial?.(inputsOf(properties));
  if (trial === undefined) return proven;
  const least = Math.min(leastTrial, settings.deadline);
  const left = { deadline: Math.max(settings.deadline - proven.seconds, least), stable: 0 };
  const tried = await pass(trial, properties, left, course, proven.seconds);
  return {
    evidence: { ...proven.evidence, ...tried.evidence },
    remarks: proven.remarks,
    seconds: proven.seconds + tried.seconds,
  };
}

async function pass(
  definition: GateDefinition<unknown, unknown>,
  properties: GateProperties,
  settings: GateSettings,
  { clock, interrupted, onProgress, onWait }: Course,
  before = 0,
): Promise<Passed> {
  const began = clock.now();
  const end = await waitAt(definition, properties, settings, { clock, interrupted, onProgress }).catch((error) => {
    throw lookFailure(definition.name, error);
  });
  if (end.kind !== "opened") throw new GateFailure(definition, { ...end, seconds: before + end.seconds });
  const { observation, seconds, held } = end;
  onWait({ began, held: began + held * 1000, opened: began + seconds * 1000, stable: settings.stable });
  return { ...told(definition, properties, observation), seconds };
}

/** What is to be told of a gate that is open. */
export function told(
  definition: GateDefinition<unknown, unknown>,
  properties: GateProperties,
  observation: unknown,
): Pick<Passed, "evidence" | "remarks"> {
  const inputs = inputsOf(properties);
  return {
    evidence: definition.evidence(observation, inputs),
    remarks: definition.remarks?.(observation, inputs) ?? [],
  };
}

/** One wait for what a gate names; nothing is tried out. */
export function waitAt(
  definition: GateDefinition<unknown, unknown>,
  properties: GateProperties,
  settings: GateSettings,
  { clock, interrupted, onProgress }: Pick<Course, "clock"> & Partial<Course>,
) {
  const inputs = inputsOf(properties);
  return waitFor({
    conditions: definition.conditions(inputs),
    settings,
    observe: (signal) => definition.observe(inputs, signal, clock),
    clock,
    ...(interrupted !== undefined && { interrupted }),
    ...(onProgress !== undefined && { onProgress }),
  });
}

function inputsOf({ inputs, credentials }: GateProperties): unknown {
  return { ...inputs, credentials };
}
