import { describe, expect, test } from "@jest/globals";
import { afterRunning, type Clock, systemClock } from "../../../components/waiting/clock.ts";

test("the host's clock never calls before the delay has passed by its own time", async () => {
  const delays = Array.from({ length: 200 }, (_, index) => 1 + index / 10);
  const early = await Promise.all(
    delays.map(
      (delay) =>
        new Promise<number>((done) => {
          const due = systemClock.now() + delay;
          systemClock.after(delay, () => done(due - systemClock.now()));
        }),
    ),
  );
  expect(early.filter((milliseconds) => milliseconds > 0)).toEqual([]);
});

test("the host's clock calls once, and not after it was cancelled", async () => {
  let calls = 0;
  const cancel = systemClock.after(1, () => calls++);
  systemClock.after(1, () => calls++);
  cancel();
  await new Promise<void>((done) => systemClock.after(5, done));
  expect(calls).toBe(1);
});

describe("a timeout that counts only the time in which the process could run", () => {
  /** A clock whose timers end when the test says so. */
  function controlled() {
    let now = 0;
    let timers: { due: number; call: () => void }[] = [];
    const clock: Clock = {
      now: () => now,
      after(milliseconds, call) {
        const timer = { due: now + milliseconds, call };
        timers.push(timer);
        return () => {
          timers = timers.filter((one) => one !== timer);
        };
      },
    };
    /** Time passes, and only at its end the process runs. */
    const pass = (milliseconds: number) => {
      now += milliseconds;
      const due = timers.filter((timer) => timer.due <= now);
      timers = timers.filter((timer) => timer.due > now);
      for (const { call } of due) call();
    };
    return { clock, pass };
  }

  test("ends after that time if the process is idle", () => {
    const { clock, pass } = controlled();
    let calls = 0;
    afterRunning(clock, 200, () => calls++);
    for (let step = 0; step < 3; step++) pass(50);
    expect(calls).toBe(0);
    pass(50);
    pass(50);
    expect(calls).toBe(1);
  });

  test("does not end because the process was blocked, however long", () => {
    const { clock, pass } = controlled();
    let calls = 0;
    afterRunning(clock, 200, () => calls++);
    pass(60_000);
    expect(calls).toBe(0);
    pass(50);
    pass(50);
    expect(calls).toBe(1);
  });

  test("does not call after it was cancelled", () => {
    const { clock, pass } = controlled();
    let calls = 0;
    const cancel = afterRunning(clock, 60, () => calls++);
    pass(50);
    cancel();
    pass(50);
    expect(calls).toBe(0);
  });
});
