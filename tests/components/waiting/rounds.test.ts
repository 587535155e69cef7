import { describe, expect, test } from "@jest/globals";
import { BackOff, every, rounds } from "../../../components/waiting/rounds.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const delays = { firstMs: 1_000, factor: 2, mostMs: 5_000 };

/** Runs the given number of rounds, with an action in each; returns the seconds between them. */
async function waits(number: number, inRound: (backOff: BackOff, round: number) => void = () => undefined) {
  const [clock, backOff] = [new FakeClock(), new BackOff(delays)];
  let round = 0;
  for await (const _ of rounds({ clock, backOff })) {
    round += 1;
    inRound(backOff, round);
    if (round === number) break;
  }
  return clock.waits;
}

describe("the rounds of a loop", () => {
  test("have longer and longer delays between them, up to the longest", async () => {
    expect(await waits(6)).toEqual([1, 2, 4, 5, 5]);
  });

  test("have the first delay again after a reset", async () => {
    expect(await waits(6, (backOff, round) => round === 3 && backOff.reset())).toEqual([1, 2, 1, 2, 4]);
  });

  test("have no delay after a round that skips it, and the first one after that", async () => {
    expect(await waits(6, (backOff, round) => round === 3 && backOff.skip())).toEqual([1, 2, 1, 2]);
  });

  test("have the same delay each time if that is configured", async () => {
    const clock = new FakeClock();
    for await (const _ of rounds({ clock, backOff: new BackOff(every(500)) })) if (clock.waits.length === 3) break;
    expect(clock.waits).toEqual([0.5, 0.5, 0.5]);
  });

  test("end with the signal, even during a delay", async () => {
    const [clock, ended] = [new FakeClock(), new AbortController()];
    clock.after(1_500, () => ended.abort());
    let count = 0;
    for await (const _ of rounds({ clock, backOff: new BackOff(delays), signal: ended.signal })) count += 1;
    expect(count).toBe(2);
    expect(clock.now()).toBe(1_500);
  });

  test("end if the next delay would exceed the deadline", async () => {
    const clock = new FakeClock();
    let count = 0;
    for await (const _ of rounds({ clock, backOff: new BackOff(delays), until: () => 7_000 })) count += 1;
    expect([count, clock.now()]).toEqual([3, 3_000]);
  });
});
