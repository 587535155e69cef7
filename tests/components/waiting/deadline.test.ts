import { expect, test } from "@jest/globals";
import { resultWithin, withDeadline } from "../../../components/waiting/deadline.ts";
import { FakeClock } from "../talos/fakeClock.ts";

const late = () => new Error("late");
const never = new Promise<never>(() => undefined);

test("work with a deadline has its own result or failure when it ends in time", async () => {
  expect(await withDeadline(new FakeClock(), 1_000, Promise.resolve("done"), late)).toBe("done");
  await expect(withDeadline(new FakeClock(), 1_000, Promise.reject(new Error("own")), late)).rejects.toThrow("own");
});

test("work with a deadline fails with the caller's error when time is up", async () => {
  const clock = new FakeClock();
  await expect(withDeadline(clock, 1_000, never, late)).rejects.toThrow("late");
  expect(clock.now()).toBe(1_000);
});

test("work that may fail has no result if it fails or takes too long", async () => {
  expect(await resultWithin(new FakeClock(), 1_000, Promise.resolve("done"))).toBe("done");
  expect(await resultWithin(new FakeClock(), 1_000, Promise.reject(new Error("own")))).toBeUndefined();
  expect(await resultWithin(new FakeClock(), 1_000, never)).toBeUndefined();
});
