import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { reporting } from "../../../scripts/base/reporting.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("S6.3 work that takes long is reported every five seconds, and no more once it has ended", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const printed: string[] = [];
  const done = reporting(
    "preparing the stack",
    () => promise,
    (text) => printed.push(text),
  );
  jest.advanceTimersByTime(4_999);
  expect(printed).toEqual([]);
  jest.advanceTimersByTime(5_001);
  expect(printed).toEqual(["sluice: preparing the stack, 5s\n", "sluice: preparing the stack, 10s\n"]);
  resolve("made");
  expect(await done).toBe("made");
  jest.advanceTimersByTime(60_000);
  expect(printed).toHaveLength(2);
});

test("work that fails is no longer reported", async () => {
  const printed: string[] = [];
  const failed = reporting(
    "checking",
    async () => Promise.reject(new Error("no")),
    (text) => printed.push(text),
  );
  await expect(failed).rejects.toThrow("no");
  jest.advanceTimersByTime(60_000);
  expect(printed).toEqual([]);
});
