import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type RetryOptions, retry, retryDelay, standardRetry } from "../../../components/talos/retry.ts";
import { FakeClock } from "./fakeClock.ts";

const passing = new Error("in passing");
const final = new Error("for good");

function options(changes: Partial<RetryOptions> = {}): RetryOptions & { readonly clock: FakeClock } {
  return {
    policy: standardRetry,
    clock: new FakeClock(),
    chance: () => 0,
    until: () => 10_000_000,
    passes: (error) => error !== final,
    ...changes,
  } as RetryOptions & { readonly clock: FakeClock };
}

/** Fails as often, then says "done". */
function failing(times: number, error: Error = passing): () => Promise<string> {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw error;
    return "done";
  };
}

const policies = fc.record({
  firstDelay: fc.integer({ min: 1, max: 20 }),
  factor: fc.integer({ min: 1, max: 4 }),
  cap: fc.integer({ min: 20, max: 100 }),
  retries: fc.integer({ min: 0, max: 12 }),
});
const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("the retry of a call (S1.2)", () => {
  test("waits 3, 6, 12, 24 and 48 seconds, then gives up, unless the stack says otherwise", async () => {
    const settings = options();
    expect(await retry(failing(Number.POSITIVE_INFINITY), settings)).toEqual({
      ok: false,
      error: passing,
      attempts: 6,
    });
    expect(settings.clock.waits).toEqual([3, 6, 12, 24, 48]);
  });

  test("never waits longer than the cap", () => {
    expect([4, 5, 6, 60].map((retry) => retryDelay(standardRetry, retry, 0))).toEqual([48, 60, 60, 60]);
  });

  test("waits up to a quarter less by chance, never more, so that nodes do not come back together", () => {
    fc.assert(
      fc.property(policies, fc.nat(20), chances, (policy, attempt, chance) => {
        const full = retryDelay(policy, attempt, 0);
        const delay = retryDelay(policy, attempt, chance);
        expect(full).toBeLessThanOrEqual(policy.cap);
        expect(delay).toBeLessThanOrEqual(full);
        expect(delay).toBeGreaterThanOrEqual(full * 0.75);
        expect(full).toBeLessThanOrEqual(retryDelay(policy, attempt + 1, 0));
      }),
    );
  });

  test.each([0, 1, 5])("ends with the first success, after %i failures", async (failures) => {
    const settings = options();
    expect(await retry(failing(failures), settings)).toEqual({ ok: true, value: "done", attempts: failures + 1 });
    expect(settings.clock.waits).toHaveLength(failures);
  });

  test("is not made after an error that waiting does not mend", async () => {
    const settings = options();
    expect(await retry(failing(1, final), settings)).toEqual({ ok: false, error: final, attempts: 1 });
    expect(settings.clock.waits).toEqual([]);
  });

  test("begins no try that the deadline would cut off", async () => {
    const settings = options({ until: () => 9000 });
    expect(await retry(failing(9), settings)).toMatchObject({ ok: false, attempts: 2 });
    expect(settings.clock.now()).toBe(3000);
  });

  test("tells before each delay what failed, how often, and how long it waits", async () => {
    const told: unknown[] = [];
    await retry(failing(2), options({ onRetry: (...what) => told.push(what) }));
    expect(told).toEqual([
      [passing, 1, 3],
      [passing, 2, 6],
    ]);
  });

  test("makes as many tries as are allowed and needed, whatever the policy", async () => {
    await fc.assert(
      fc.asyncProperty(policies, fc.nat(15), chances, async (policy, failures, chance) => {
        const settings = options({ policy, chance: () => chance });
        const result = await retry(failing(failures), settings);
        expect(result.ok).toBe(failures <= policy.retries);
        expect(result.attempts).toBe(Math.min(failures, policy.retries) + 1);
        expect(settings.clock.waits).toEqual(
          // There and back, as the clock's milliseconds: not every fraction comes back as it was.
          settings.clock.waits.map((_, attempt) => (retryDelay(policy, attempt, chance) * 1000) / 1000),
        );
      }),
    );
  });
});
