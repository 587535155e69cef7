import { type Clock, pause } from "../gates/clock.ts";

/** How often and after how long a call that failed is made again. All times in seconds. */
export interface RetryPolicy {
  /** Before the first retry. */
  readonly firstDelay: number;
  /** How much longer each delay is than the one before. */
  readonly factor: number;
  /** No delay is longer. */
  readonly cap: number;
  /** How often the call is made again after it failed once. */
  readonly retries: number;
}

/** What a stack has unless it says otherwise. */
export const standardRetry: RetryPolicy = { firstDelay: 3, factor: 2, cap: 60, retries: 5 };

/** Of calls to APIs in the world, whose limits refill by about one call a second: their deadline alone ends the tries. */
const apiPolicy: RetryPolicy = { firstDelay: 1, factor: 2, cap: 10, retries: Number.POSITIVE_INFINITY };

/** How much of a delay is left to chance, so that nodes that failed together do not all come back together. */
const jitter = 0.25;

/** The delay before a retry, the first of which is 0. `chance` is in [0, 1). */
export function retryDelay(policy: RetryPolicy, retry: number, chance: number): number {
  return jittered(Math.min(policy.cap, policy.firstDelay * policy.factor ** retry), chance);
}

/** A delay with its share of chance in it. */
export function jittered(full: number, chance: number): number {
  return full * (1 - jitter * chance);
}

export interface RetryOptions {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly chance: () => number;
  /** When no further try is begun, by the clock; asked anew each time, for waiting for others does not count. */
  readonly until: () => number;
  /** Whether waiting may mend it; any other error ends the tries at once. */
  readonly passes: (error: unknown) => boolean;
  /** Told before each delay. */
  readonly onRetry?: (error: unknown, attempt: number, delay: number) => void;
}

/** The last error, and how many tries it took to get there. */
export interface GaveUp {
  readonly error: unknown;
  readonly attempts: number;
}

export type Retried<T> = { readonly ok: true; readonly value: T; readonly attempts: number } | ({ ok: false } & GaveUp);

/** Makes a call until it succeeds, fails for good, has used up its retries, or its time. Never throws. */
export async function retry<T>(
  call: (attempt: number) => Promise<T>,
  { policy, clock, chance, until, passes, onRetry }: RetryOptions,
): Promise<Retried<T>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { ok: true, value: await call(attempt), attempts: attempt };
    } catch (error) {
      const delay = retryDelay(policy, attempt - 1, chance());
      if (!passes(error) || attempt > policy.retries || clock.now() + delay * 1000 >= until()) {
        return { ok: false, error, attempts: attempt };
      }
      onRetry?.(error, attempt, delay);
      await pause(clock, delay * 1000);
    }
  }
}

/** Asks an API in the world, for so many seconds, for as long as its errors may pass. */
export async function askPatiently<T>(
  call: () => Promise<T>,
  { deadline, ...options }: Pick<RetryOptions, "clock" | "chance" | "passes"> & { readonly deadline: number },
): Promise<Retried<T>> {
  const giveUp = options.clock.now() + deadline * 1000;
  return await retry(call, { ...options, policy: apiPolicy, until: () => giveUp });
}
