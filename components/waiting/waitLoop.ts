// The wait loop of all gates. It knows conditions and time, and nothing about what is observed.
import type { Clock } from "./clock.ts";
import type { Condition, GateSettings } from "./condition.ts";
import { resultWithin } from "./deadline.ts";
import { History, isUnseen, type Unmet } from "./history.ts";
import { Stalls } from "./stalls.ts";
import { Window } from "./window.ts";

export interface Wait<Observation> {
  /** In the order in which they can become met. */
  readonly conditions: readonly Condition<Observation>[];
  readonly settings: GateSettings;
  /** Observes until the signal is aborted, which happens as soon as the wait has ended. */
  observe(signal: AbortSignal): AsyncIterable<Observation>;
  readonly clock: Clock;
  /** Aborted on Ctrl-C. */
  readonly interrupted?: AbortSignal;
  /** Called with the unmet conditions whenever they may have changed. */
  readonly onProgress?: (text: string) => void;
  /** Called when all conditions are met for the first time. From then on there is the whole deadline once more for the stability window to pass. */
  readonly onMet?: (met: Met<Observation>) => void;
}

/** All conditions are met, for the first time in this wait. */
export interface Met<Observation> {
  readonly observation: Observation;
  /** Since the wait began. */
  readonly seconds: number;
}

/** How a wait ended. */
export type WaitEnd<Observation> =
  | {
      readonly kind: "opened";
      readonly observation: Observation;
      readonly seconds: number;
      /** Seconds until all conditions were met and stayed so. */
      readonly held: number;
    }
  | {
      /** Permanently, because a failure persists that seldom goes away by waiting, because time is up, or because the user interrupted the run. */
      readonly kind: "failed" | "stalled" | "timeout" | "interrupted";
      /** Permanent failures, or stalls, come first. Empty if all conditions were met but not for long enough, and if nothing was observed. */
      readonly unmet: readonly Unmet[];
      readonly hasObserved: boolean;
      readonly seconds: number;
    };

/** Milliseconds that the observer has to clean up at the end. */
const cleanUpMs = 5_000;

/** Waits until all conditions stay met for the stability window. Rejects only with an error of the observer. */
export async function waitFor<Observation>(wait: Wait<Observation>): Promise<WaitEnd<Observation>> {
  const { clock, settings } = wait;
  const ended = new AbortController();
  const history = new History(wait.conditions, clock);
  let look = Promise.resolve();
  try {
    return await new Promise<WaitEnd<Observation>>((end, fail) => {
      let latest: Observation;
      let held = 0;
      let wasMet = false;
      const open = () => end({ kind: "opened", observation: latest, seconds: history.seconds, held });
      const giveUp = (kind: "timeout" | "interrupted") =>
        end({
          kind,
          unmet: history.unmetInTheEnd(),
          hasObserved: history.hasObserved,
          seconds: history.seconds,
        });
      const stable = new Window(clock, settings.stableSeconds, open);
      const deadline = new Window(clock, settings.deadlineSeconds, () => giveUp("timeout"));
      const unmetLong = new Window(clock, settings.unmetSeconds ?? settings.deadlineSeconds, () => giveUp("timeout"));
      const stalls = new Stalls(clock, settings.stallSeconds ?? 0, () => {
        const unmet = history
          .unmetInTheEnd()
          .map((one) => ({ ...one, ...(stalls.has(one) && { isStalled: true as const }) }));
        const stalled = unmet.filter(({ isStalled }) => isStalled);
        const others = unmet.filter(({ isStalled }) => !isStalled);
        end({ kind: "stalled", unmet: [...stalled, ...others], hasObserved: true, seconds: history.seconds });
      });
      const meet = (observation: Observation) => {
        if (wait.onMet === undefined) return;
        deadline.break();
        deadline.begin();
        wait.onMet({ observation, seconds: held });
      };
      deadline.begin();
      ended.signal.addEventListener("abort", () => {
        for (const window of [stable, deadline, unmetLong]) window.break();
        stalls.stop();
      });
      if (wait.interrupted?.aborted) giveUp("interrupted");
      wait.interrupted?.addEventListener("abort", () => giveUp("interrupted"), { signal: ended.signal });

      const judge = (observation: Observation) => {
        latest = observation;
        const unmet = history.judge(observation);
        if (unmet.some(({ verdict }) => verdict.kind === "failed")) {
          return end({ kind: "failed", unmet, hasObserved: true, seconds: history.seconds });
        }
        if (unmet.length === 0 && !stable.isRunning) held = history.seconds;
        if (unmet.length === 0 && !wasMet) {
          wasMet = true;
          meet(observation);
        }
        if (unmet.length === 0 && settings.stableSeconds === 0) return open();
        stalls.judge(unmet);
        wait.onProgress?.(history.progress(settings));
        if (unmet.length === 0) stable.begin();
        else stable.break();
        if (unmet.length > 0 && !unmet.some(isUnseen)) unmetLong.begin();
        else unmetLong.break();
      };
      look = follow(wait.observe(ended.signal), judge, ended.signal).catch(fail);
    });
  } finally {
    ended.abort();
    await resultWithin(clock, cleanUpMs, look);
  }
}

/** Passes on each observation until the signal. An observer that ends by itself is an error, because the wait would see nothing more. */
async function follow<Observation>(
  observations: AsyncIterable<Observation>,
  judge: (observation: Observation) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const observation of observations) {
    if (signal.aborted) return;
    judge(observation);
  }
  if (!signal.aborted) throw new Error("the observer ended before the wait");
}
