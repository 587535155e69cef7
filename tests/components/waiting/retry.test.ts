import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type RetryOptions, type RetryPolicy, retry, standardRetry } from "../../../components/waiting/retry.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const passing = new Error("transient");
const final = new Error("for good");

function options(changes: Partial<RetryOptions> = {}): RetryOptions & { readonly clock: FakeClock } {
  return {
    policy: standardRetry,
    clock: new FakeClock(),
    random: () => 0,
    until: () => 10_000_000,
    retryable: (error) => error !== final,
    ...changes,
  } as RetryOptions & { readonly clock: FakeClock };
}

/** Fails the given number of times, then returns "done". */
function failing(times: number, error: Error = passing): () => Promise<string> {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw error;
    return "done";
  };
}

const policies = fc.record({
  firstDelaySeconds: fc.integer({ min: 1, max: 20 }),
  factor: fc.integer({ min: 1, max: 4 }),
  maxDelaySeconds: fc.integer({ min: 20, max: 100 }),
  retries: fc.integer({ min: 0, max: 12 }),
});
/** How long a call that always fails is waited for, in seconds. */
async function waits(policy: RetryPolicy, random: number): Promise<readonly number[]> {
  const settings = options({ policy, random: () => random });
  await retry(failing(Number.POSITIVE_INFINITY), settings);
  return settings.clock.waits;
}

const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("the retry of a call (S1.2)", () => {
  test("waits 3, 6, 12, 24 and 48 seconds and then gives up, by default", async () => {
    const settings = options();
    expect(await retry(failing(Number.POSITIVE_INFINITY), settings)).toEqual({
      ok: false,
      error: passing,
      attempts: 6,
    });
    expect(settings.clock.waits).toEqual([3, 6, 12, 24, 48]);
  });

  test("never waits longer than the longest delay", async () => {
    expect((await waits({ ...standardRetry, retries: 7 }, 0)).slice(4)).toEqual([48, 60, 60]);
  });

  test("waits randomly up to a quarter less, never more, so that nodes do not retry together", async () => {
    await fc.assert(
      fc.asyncProperty(policies, chances, async (policy, random) => {
        const full = await waits(policy, 0);
        const delays = await waits(policy, random);
        expect(delays).toHaveLength(full.length);
        for (const [retry, longest] of full.entries()) {
          expect(longest).toBeLessThanOrEqual(policy.maxDelaySeconds);
          expect(delays[retry]).toBeLessThanOrEqual(longest);
          expect(delays[retry]).toBeGreaterThanOrEqual(longest * 0.75);
          expect(longest).toBeLessThanOrEqual(full[retry + 1] ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });

  test.each([0, 1, 5])("ends with the first success, after %i failures", async (failures) => {
    const settings = options();
    expect(await retry(failing(failures), settings)).toEqual({ ok: true, value: "done", attempts: failures + 1 });
    expect(settings.clock.waits).toHaveLength(failures);
  });

  test("is not made after a permanent error", async () => {
    const settings = options();
    expect(await retry(failing(1, final), settings)).toEqual({ ok: false, error: final, attempts: 1 });
    expect(settings.clock.waits).toEqual([]);
  });

  test("starts no attempt that the deadline would cut off", async () => {
    const settings = options({ until: () => 9000 });
    expect(await retry(failing(9), settings)).toMatchObject({ ok: false, attempts: 2 });
    expect(settings.clock.now()).toBe(3000);
  });

  test("reports before each delay what failed, how often, and how long it waits", async () => {
    const told: unknown[] = [];
    await retry(failing(2), options({ onRetry: (...what) => told.push(what) }));
    expect(told).toEqual([
      [passing, 1, 3],
      [passing, 2, 6],
    ]);
  });

  test("makes as many attempts as are allowed and needed, with any policy", async () => {
    await fc.assert(
      fc.asyncProperty(policies, fc.nat(15), chances, async (policy, failures, random) => {
        const settings = options({ policy, random: () => random });
        const result = await retry(failing(failures), settings);
        expect(result.ok).toBe(failures <= policy.retries);
        expect(result.attempts).toBe(Math.min(failures, policy.retries) + 1);
        expect(settings.clock.waits).toEqual((await waits(policy, random)).slice(0, failures));
      }),
    );
  });
});
