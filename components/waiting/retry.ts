import type { Clock } from "./clock.ts";
import { BackOff, rounds } from "./rounds.ts";

/** How often, and after which delays, a failed call is repeated. */
export interface RetryPolicy {
  /** Delay before the first retry. */
  readonly firstDelaySeconds: number;
  /** The factor by which each delay is longer than the one before. */
  readonly factor: number;
  /** The longest delay. */
  readonly maxDelaySeconds: number;
  /** How often the call is repeated after it failed once. */
  readonly retries: number;
}

/** The default of an environment. */
export const standardRetry: RetryPolicy = { firstDelaySeconds: 3, factor: 2, maxDelaySeconds: 60, retries: 5 };

/** For calls of remote APIs, whose rate limits allow about one call per second: only the deadline ends the attempts. */
const apiPolicy: RetryPolicy = {
  firstDelaySeconds: 1,
  factor: 2,
  maxDelaySeconds: 10,
  retries: Number.POSITIVE_INFINITY,
};

export interface RetryOptions {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** The time by the clock after which no further attempt starts; called each time, because waiting for other nodes does not count. */
  readonly until: () => number;
  /** Whether a retry may succeed; any other error ends the attempts at once. */
  readonly retryable: (error: unknown) => boolean;
  /** Called before each delay. */
  readonly onRetry?: (error: unknown, attempt: number, delaySeconds: number) => void;
}

/** The last error, and the number of attempts. */
export interface GaveUp {
  readonly error: unknown;
  readonly attempts: number;
}

export type Retried<T> = { readonly ok: true; readonly value: T; readonly attempts: number } | ({ ok: false } & GaveUp);

/** Makes a call until it succeeds, fails permanently, or its retries or its time are used up. Never throws. */
export async function retry<T>(
  call: (attempt: number) => Promise<T>,
  { policy, clock, random, until, retryable, onRetry }: RetryOptions,
): Promise<Retried<T>> {
  const { firstDelaySeconds, factor, maxDelaySeconds, retries } = policy;
  const backOff = new BackOff({ firstMs: firstDelaySeconds * 1000, factor, mostMs: maxDelaySeconds * 1000 }, random);
  let failed: GaveUp = { error: undefined, attempts: 0 };
  const onDelay = (milliseconds: number) => onRetry?.(failed.error, failed.attempts, milliseconds / 1000);
  for await (const _ of rounds({ clock, backOff, until, onDelay })) {
    const attempts = failed.attempts + 1;
    try {
      return { ok: true, value: await call(attempts), attempts };
    } catch (error) {
      failed = { error, attempts };
      if (!retryable(error) || attempts > retries) break;
    }
  }
  return { ok: false, ...failed };
}

/** Calls a remote API until its deadline, as long as its errors are retryable. */
export async function retryApi<T>(
  call: () => Promise<T>,
  {
    deadlineSeconds,
    ...options
  }: Pick<RetryOptions, "clock" | "random" | "retryable"> & { readonly deadlineSeconds: number },
): Promise<Retried<T>> {
  const giveUp = options.clock.now() + deadlineSeconds * 1000;
  return await retry(call, { ...options, policy: apiPolicy, until: () => giveUp });
}
