import { type Clock, pause } from "../gates/clock.ts";
import { jittered } from "./retry.ts";

/** What one look came to. */
export type Look<T> =
  | { readonly found: T }
  | {
      /** What is said when no time is left for another. */
      readonly late: Error;
      /** Something was seen, so that the delays begin anew. */
      readonly isFresh?: boolean;
    };

export interface RepeatOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly chance: () => number;
  /** When no further look is begun, by the clock; asked anew each time, for waiting for others does not count. */
  readonly until: () => number;
  /** Comes when nobody waits any more. */
  readonly interrupted?: AbortSignal | undefined;
  /** Seconds before it is looked again, the first time and at most. */
  readonly pace?: readonly [number, number];
  /** Resolves after so many milliseconds, or when there is something new to be seen. */
  readonly rest?: (milliseconds: number) => Promise<void>;
}

const usualPace = [0.25, 3] as const;
/** How much longer each delay is than the one before. */
const factor = 1.5;

/** Looks until something is found, at longer and longer intervals; an end of the time is told as the last look says. */
export async function repeat<T>(look: () => Promise<Look<T>>, options: RepeatOptions): Promise<T> {
  const { clock, chance, until, interrupted, pace = usualPace } = options;
  const { rest = (milliseconds) => pause(clock, milliseconds, interrupted) } = options;
  const [first, atMost] = pace;
  for (let full: number = first; ; full = Math.min(atMost, full * factor)) {
    interrupted?.throwIfAborted();
    const end = await look();
    if ("found" in end) return end.found;
    if (end.isFresh) full = first;
    const delay = jittered(full, chance()) * 1000;
    if (clock.now() + delay >= until()) throw end.late;
    await rest(delay);
  }
}
