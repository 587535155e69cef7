// The one wait of all gates. It knows conditions and time, and nothing of what is looked at.
import { atMost, type Clock } from "./clock.ts";
import type { Condition, GateSettings } from "./gateDefinition.ts";
import { History, isUnseen, type Unmet } from "./history.ts";
import { Window } from "./window.ts";

export interface Wait<Observation> {
  /** In the order in which they can come true. */
  readonly conditions: readonly Condition<Observation>[];
  readonly settings: GateSettings;
  /** Looks until the signal, which comes as soon as the wait has ended. */
  observe(signal: AbortSignal): AsyncIterable<Observation>;
  readonly clock: Clock;
  /** Comes when nobody wants to wait any more. */
  readonly interrupted?: AbortSignal;
  /** Told what the wait is for whenever that may have changed. */
  readonly onProgress?: (text: string) => void;
}

/** How a wait ended. */
export type WaitEnd<Observation> =
  | {
      readonly kind: "opened";
      readonly observation: Observation;
      readonly seconds: number;
      /** Seconds until everything held and went on to. */
      readonly held: number;
    }
  | {
      /** By a verdict that no waiting mends, because time was up, or because nobody wanted to wait any more. */
      readonly kind: "failed" | "timeout" | "interrupted";
      /** Never empty; what cannot pass stands first. */
      readonly unmet: readonly Unmet[];
      readonly seconds: number;
    };

/** What looks is given this long to clear away after the end. */
const clearing = 5_000;

/** Waits until all conditions hold for the stable window. Rejects only with an error of the look itself. */
export async function waitFor<Observation>(wait: Wait<Observation>): Promise<WaitEnd<Observation>> {
  const { clock, settings } = wait;
  const ended = new AbortController();
  const history = new History(wait.conditions, clock);
  let look = Promise.resolve();
  try {
    return await new Promise<WaitEnd<Observation>>((end, fail) => {
      let latest: Observation;
      let held = 0;
      const open = () => end({ kind: "opened", observation: latest, seconds: history.seconds, held });
      const giveUp = (kind: "timeout" | "interrupted") =>
        end({ kind, unmet: history.unmetInTheEnd(settings), seconds: history.seconds });
      const stable = new Window(clock, settings.stable, open);
      const deadline = new Window(clock, settings.deadline, () => giveUp("timeout"));
      const patience = new Window(clock, settings.patience ?? settings.deadline, () => giveUp("timeout"));
      deadline.begin();
      ended.signal.addEventListener("abort", () => {
        for (const window of [stable, deadline, patience]) window.break();
      });
      if (wait.interrupted?.aborted) giveUp("interrupted");
      wait.interrupted?.addEventListener("abort", () => giveUp("interrupted"), { signal: ended.signal });

      const judge = (observation: Observation) => {
        latest = observation;
        const unmet = history.judge(observation);
        if (unmet.some(({ verdict }) => verdict.kind === "failed")) {
          return end({ kind: "failed", unmet, seconds: history.seconds });
        }
        if (unmet.length === 0 && !stable.isRunning) held = history.seconds;
        if (unmet.length === 0 && settings.stable === 0) return open();
        wait.onProgress?.(history.progress(settings));
        if (unmet.length === 0) stable.begin();
        else stable.break();
        if (unmet.length > 0 && !unmet.some(isUnseen)) patience.begin();
        else patience.break();
      };
      look = follow(wait.observe(ended.signal), judge, ended.signal).catch(fail);
    });
  } finally {
    ended.abort();
    await atMost(clock, clearing, look);
  }
}

/** Hands on what is seen until the signal. A look that ends by itself would leave the wait blind. */
async function follow<Observation>(
  observations: AsyncIterable<Observation>,
  judge: (observation: Observation) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const observation of observations) {
    if (signal.aborted) return;
    judge(observation);
  }
  if (!signal.aborted) throw new Error("it is no longer looked at, though nobody said to stop");
}
