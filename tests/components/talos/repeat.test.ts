import { describe, expect, test } from "@jest/globals";
import { pause } from "../../../components/gates/clock.ts";
import { type Look, type RepeatOptions, repeat } from "../../../components/talos/repeat.ts";
import { FakeClock } from "./fakeClock.ts";

const late = new Error("nothing was found");

function options(changes: Partial<RepeatOptions> = {}): RepeatOptions & { readonly clock: FakeClock } {
  return { clock: new FakeClock(), chance: () => 0, until: () => 30_000, ...changes } as ReturnType<typeof options>;
}

/** Finds something in the look of that number. */
function inLook(number: number, fresh?: number): () => Promise<Look<string>> {
  let looks = 0;
  return async () => {
    looks += 1;
    return looks === number ? { found: "it" } : { late, isFresh: looks === fresh };
  };
}

describe("looks until something is found", () => {
  test("come at longer and longer intervals, up to the longest", async () => {
    const settings = options();
    expect(await repeat(inLook(9), settings)).toBe("it");
    const waits = settings.clock.waits.map((seconds) => Number(seconds.toFixed(2)));
    expect(waits).toEqual([0.25, 0.38, 0.56, 0.84, 1.27, 1.9, 2.85, 3]);
  });

  test("are not in step with those of others that began together", async () => {
    const settings = options({ chance: () => 0.999 });
    await repeat(inLook(2), settings);
    expect(settings.clock.waits).toEqual([expect.closeTo(0.25 * 0.75, 3)]);
  });

  test("begin anew at short intervals after one that saw something", async () => {
    const settings = options({ pace: [1, 10] });
    await repeat(inLook(5, 3), settings);
    expect(settings.clock.waits).toEqual([1, 1.5, 1, 1.5]);
  });

  test("end with what the last one lacked when there is no time for another", async () => {
    const settings = options();
    await expect(repeat(inLook(1000), settings)).rejects.toBe(late);
    expect(settings.clock.now()).toBeLessThan(30_000);
    expect(settings.clock.now()).toBeGreaterThan(26_000);
  });

  test("end when nobody waits any more, and none is begun then (Ctrl-C)", async () => {
    const ended = new AbortController();
    const settings = options({ interrupted: ended.signal });
    settings.clock.after(1000, () => ended.abort());
    let looks = 0;
    const made = repeat(async () => {
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
