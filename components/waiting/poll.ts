import { type Clock, pause } from "./clock.ts";
import { BackOff, type Delays, rounds } from "./rounds.ts";

/** The result of one observation. */
export type Polled<T> =
  | { readonly found: T }
  | {
      /** The error if no time is left for another observation. */
      readonly late: Error;
      /** Something changed, so the delays start from the first again. */
      readonly isFresh?: boolean;
    };

export interface PollOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** The time by the clock after which no further observation starts. */
  readonly until: () => number;
  /** Aborted when the result is no longer needed: then the poll rejects. */
  readonly interrupted?: AbortSignal | undefined;
  /** The delays between observations. */
  readonly delays?: Delays;
  /** Resolves after the given milliseconds, or earlier if something has changed. */
  readonly rest?: (milliseconds: number) => Promise<void>;
}

const usualDelays: Delays = { firstMs: 250, factor: 1.5, mostMs: 3_000 };

/** Observes with growing delays until something is found; rejects with the error of the last observation when time is up. */
export async function poll<T>(look: () => Promise<Polled<T>>, options: PollOptions): Promise<T> {
  const { clock, random, until, interrupted, delays = usualDelays } = options;
  const { rest = (milliseconds: number) => pause(clock, milliseconds, interrupted) } = options;
  const backOff = new BackOff(delays, random);
  let late: Error | undefined;
  for await (const _ of rounds({ clock, backOff, until, rest })) {
    interrupted?.throwIfAborted();
    const polled = await look();
    if ("found" in polled) return polled.found;
    late = polled.late;
    if (polled.isFresh) backOff.reset();
  }
  throw late;
}
