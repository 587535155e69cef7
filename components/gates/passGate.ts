import type { TracedWait } from "../trace/trace.ts";
import type { Clock } from "./clock.ts";
import type { GateDefinition, GateSettings } from "./gateDefinition.ts";
import { GateFailure } from "./gateFailure.ts";
import type { GateProperties } from "./gateProperties.ts";
import { lookFailure } from "./lookFailure.ts";
import { findGate } from "./registry.ts";
import { waitFor } from "./waitLoop.ts";

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
export async function passGate(properties: GateProperties, course: Course): Promise<Passed> {
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
