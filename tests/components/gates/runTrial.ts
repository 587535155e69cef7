import type { GateCheck } from "../../../components/gates/gateDefinition.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { waitFor } from "../../../components/waiting/waitLoop.ts";

export interface TrialOptions {
  readonly deadlineSeconds?: number;
  /** Gets every progress text. */
  readonly told?: string[];
  readonly interrupted?: AbortController;
}

/** Waits for a trial against a fake cluster, as its gate does. */
export function runTrial<Observation>(
  trial: GateCheck<unknown, Observation>,
  { deadlineSeconds = 20, told = [], interrupted = new AbortController() }: TrialOptions,
) {
  return waitFor({
    conditions: trial.conditions({}),
    settings: { deadlineSeconds, stableSeconds: 0 },
    clock: systemClock,
    observe: (signal) => trial.observe({}, signal, systemClock),
    onProgress: (text) => told.push(text),
    interrupted: interrupted.signal,
  });
}
