import { describe, expect, test } from "@jest/globals";
import { pause } from "../../../components/waiting/clock.ts";
import { type Polled, type PollOptions, poll } from "../../../components/waiting/poll.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const late = new Error("nothing was found");

function options(changes: Partial<PollOptions> = {}): PollOptions & { readonly clock: FakeClock } {
  return { clock: new FakeClock(), random: () => 0, until: () => 30_000, ...changes } as ReturnType<typeof options>;
}

/** Finds something in the observation with that number. */
function inLook(number: number, fresh?: number): () => Promise<Polled<string>> {
  let looks = 0;
  return async () => {
    looks += 1;
    return looks === number ? { found: "it" } : { late, isFresh: looks === fresh };
  };
}

describe("polls until something is found", () => {
  test("have longer and longer intervals, up to the longest", async () => {
    const settings = options();
    expect(await poll(inLook(9), settings)).toBe("it");
    const waits = settings.clock.waits.map((seconds) => Number(seconds.toFixed(2)));
    expect(waits).toEqual([0.25, 0.38, 0.56, 0.84, 1.27, 1.9, 2.85, 3]);
  });

  test("are not in step with others that started together", async () => {
    const settings = options({ random: () => 0.999 });
    await poll(inLook(2), settings);
    expect(settings.clock.waits).toEqual([expect.closeTo(0.25 * 0.75, 3)]);
  });

  test("return to short intervals after an observation that was new", async () => {
    const settings = options({ delays: { firstMs: 1_000, factor: 1.5, mostMs: 10_000 } });
    await poll(inLook(5, 3), settings);
    expect(settings.clock.waits).toEqual([1, 1.5, 1, 1.5]);
  });

  test("fail with the last reason when there is no time for another", async () => {
    const settings = options();
    await expect(poll(inLook(1000), settings)).rejects.toBe(late);
    expect(settings.clock.now()).toBeLessThan(30_000);
    expect(settings.clock.now()).toBeGreaterThan(26_000);
  });

  test("end when they are interrupted, and no other starts (Ctrl-C)", async () => {
    const ended = new AbortController();
    const settings = options({ interrupted: ended.signal });
    settings.clock.after(1000, () => ended.abort());
    let looks = 0;
    const made = poll(async () => {
      looks += 1;
      return { late };
    }, settings);
    await expect(made).rejects.toMatchObject({ name: "AbortError" });
    const before = looks;
    await pause(settings.clock, 10_000);
    expect(looks).toBe(before);
    expect(settings.clock.now()).toBeLessThan(12_000);
  });
});
