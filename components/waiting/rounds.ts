// The loop behind all polls, retries and watches: rounds with a growing delay between them.
import { type Clock, pause } from "./clock.ts";

export interface Delays {
  readonly firstMs: number;
  /** The factor by which each delay is longer than the one before. */
  readonly factor: number;
  readonly mostMs: number;
}

/** The same delay each time. */
export function every(milliseconds: number): Delays {
  return { firstMs: milliseconds, factor: 1, mostMs: milliseconds };
}

/** The largest share by which a delay is shortened at random, so that callers that failed together do not all retry together. */
const jitter = 0.25;

/** The delays between rounds. */
export class BackOff {
  private readonly delays: Delays;
  private readonly random: () => number;
  private fullMs: number;
  private isSkipped = false;

  /** `random` is in [0, 1). Default: the delays are not randomized. */
  constructor(delays: Delays, random: () => number = () => 0) {
    this.delays = delays;
    this.random = random;
    this.fullMs = delays.firstMs;
  }

  nextMs(): number {
    if (this.isSkipped) {
      this.isSkipped = false;
      return 0;
    }
    const { factor, mostMs } = this.delays;
    const delay = Math.min(mostMs, this.fullMs) * (1 - jitter * this.random());
    this.fullMs = Math.min(mostMs, this.fullMs * factor);
    return delay;
  }

  /** The next delay is as long as the first again. */
  reset(): void {
    this.fullMs = this.delays.firstMs;
  }

  /** The next round follows without a delay, and the delay after it is as long as the first. */
  skip(): void {
    this.reset();
    this.isSkipped = true;
  }
}

export interface RoundsOptions {
  readonly clock: Clock;
  readonly backOff: BackOff;
  /** Ends the rounds when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** The time by the clock after which no further round starts; called each time, because waiting for other nodes does not count. Default: no limit. */
  readonly until?: (() => number) | undefined;
  /** Resolves after the given milliseconds. Default: a pause that the signal ends. */
  readonly rest?: ((milliseconds: number) => Promise<void>) | undefined;
  /** Called before each delay, with its length. */
  readonly onDelay?: (milliseconds: number) => void;
}

/** The first round starts at once, each further one after a delay. */
export async function* rounds({ clock, backOff, signal, until, rest, onDelay }: RoundsOptions): AsyncGenerator<void> {
  const wait = rest ?? ((milliseconds) => pause(clock, milliseconds, signal));
  while (!signal?.aborted) {
    yield;
    const delay = backOff.nextMs();
    if (until !== undefined && clock.now() + delay >= until()) return;
    onDelay?.(delay);
    if (delay > 0) await wait(delay);
  }
}
