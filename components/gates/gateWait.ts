// One wait of a gate: until its conditions are met, and then for its stability window.
import type { ResourceContext } from "../engine/resourceContext.ts";
import type { TracedWait } from "../engine/trace.ts";
import type { GateSettings } from "../waiting/condition.ts";
import type { Unmet } from "../waiting/history.ts";
import { type Met, type Wait, waitFor } from "../waiting/waitLoop.ts";
import type { Evidence, GateCheck } from "./gateDefinition.ts";
import { gateFailure, observationFailure } from "./gateFailure.ts";
import { OpenGate } from "./openGate.ts";
import type { TalosGateInputs } from "./talos/nodeView.ts";

export type WaitContext = Pick<ResourceContext, "clock" | "interrupted" | "report" | "onWait">;

/** A gate, or its trial, whose conditions were met. */
export interface Passed {
  readonly observation: unknown;
  readonly evidence: Evidence;
  /** Since its wait began. */
  readonly seconds: number;
  /** For the trace of the run. */
  readonly wait: TracedWait;
  readonly open: OpenGate;
}

/** Waits for what a gate or its trial names. */
export function waitUntil<Inputs extends object, Observation>(
  check: GateCheck<Inputs, Observation>,
  inputs: Inputs,
  settings: GateSettings,
  { clock, interrupted, report }: Pick<WaitContext, "clock"> & Partial<WaitContext>,
  onMet?: Wait<Observation>["onMet"],
) {
  return waitFor({
    conditions: check.conditions(inputs),
    settings,
    observe: (signal) => check.observe(inputs, signal, clock),
    clock,
    ...(interrupted !== undefined && { interrupted }),
    ...(report !== undefined && { onProgress: report }),
    ...(onMet !== undefined && { onMet }),
  });
}

/** One wait, which must succeed; `before` is the number of seconds that the gate has waited already. Its stability window may still pass when this resolves. */
export async function pass(
  check: GateCheck<object, unknown>,
  inputs: object,
  settings: GateSettings,
  context: WaitContext,
  before = 0,
): Promise<Passed> {
  const { clock } = context;
  const began = clock.now();
  let open: OpenGate | undefined;
  const met = Promise.withResolvers<Met<unknown>>();
  const report = (text: string) => (open === undefined ? context.report(text) : open.report(text));
  const proof = prove(check, inputs, settings, { ...context, report }, met.resolve, before);
  proof.catch(met.reject);
  const { observation, seconds } = await met.promise;
  open = new OpenGate(check.name, proof);
  const held = began + seconds * 1000;
  if (settings.isStrict) await proof;
  const opened = settings.isStrict ? clock.now() : held;
  return {
    observation,
    evidence: check.evidence(observation, inputs),
    seconds: (opened - began) / 1000,
    wait: { began, held, opened, stableSeconds: settings.isStrict ? settings.stableSeconds : 0 },
    open,
  };
}

/** Observes an open gate again, which must stay so for its stability window. */
export function observeProof(
  check: GateCheck<object, unknown>,
  inputs: object,
  settings: GateSettings,
  clock: ResourceContext["clock"],
): Promise<void> {
  return prove(check, inputs, settings, { clock, report: () => undefined }, () => undefined);
}

/** Resolves after the stability window. */
async function prove(
  check: GateCheck<object, unknown>,
  inputs: object,
  settings: GateSettings,
  context: WaitContext,
  onMet: (met: Met<unknown>) => void,
  before = 0,
): Promise<void> {
  let hasOpened = false;
  const end = await waitUntil(check, inputs, settings, context, (met) => {
    hasOpened = !settings.isStrict;
    onMet(met);
  }).catch((error) => {
    throw observationFailure(check.name, error);
  });
  if (end.kind === "opened") return;
  const logs = end.kind === "interrupted" ? undefined : await lastLines(end.unmet, inputs, context.clock);
  throw gateFailure(check, { ...end, seconds: before + end.seconds }, settings.stableSeconds, { logs, hasOpened });
}

/** Loads what talks to nodes only where a log is to be read. */
async function lastLines(unmet: readonly Unmet[], inputs: object, clock: ResourceContext["clock"]) {
  if (!unmet.some(({ verdict }) => "log" in verdict)) return undefined;
  const { readLogs } = await import("./talos/lastLogLines.ts");
  return readLogs(unmet, inputs as TalosGateInputs, clock);
}
