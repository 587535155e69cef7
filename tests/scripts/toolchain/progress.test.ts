import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { duration, leftByPackages, outlook, type Screen, startProgress } from "../../../scripts/toolchain/progress.ts";

describe("a duration", () => {
  test.each([
    [0, "0s"],
    [8.4, "8s"],
    [59.4, "59s"],
    [59.6, "1m00s"],
    [125, "2m05s"],
    [3599.6, "1h00m"],
    [3720, "1h02m"],
    [36_000, "10h00m"],
  ])("of %d s reads %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

describe("the outlook", () => {
  test.each([
    [65, "about 1m05s left"],
    [5.1, "about 5s left"],
    [5, "nearly done"],
    [-300, "nearly done"],
  ])("with %d s to go is '%s'", (left, text) => {
    expect(outlook(left)).toBe(text);
  });

  test("follows the packages once twenty of them are compiled", () => {
    expect(leftByPackages(10, 19, 100)).toBeUndefined();
    expect(leftByPackages(10, 20, 100)).toBe(40);
    expect(leftByPackages(90, 100, 100)).toBe(0);
  });

  test("is never negative, and shrinks with each package", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 20, max: 3000 }), (elapsed, done) => {
        const total = 3001;
        const left = leftByPackages(elapsed, done, total) ?? Number.NaN;
        expect(left).toBeGreaterThan(0);
        expect(leftByPackages(elapsed, done + 1, total)).toBeLessThan(left);
      }),
    );
  });
});

describe("progress", () => {
  let written: string;
  beforeEach(() => {
    jest.useFakeTimers();
    written = "";
  });
  afterEach(() => void jest.useRealTimers());

  const screen = (terminal: boolean, columns = 200): Screen => ({
    terminal,
    columns,
    write(text) {
      written += text;
    },
  });
  const step = { what: "building pulumi 3.259.0", purpose: "the engine", index: 1, of: 5, expected: 300 };
  const seen = () => {
    const text = written;
    written = "";
    return text;
  };

  test("on a terminal is one line that rewrites itself every second", () => {
    const progress = startProgress(step, screen(true));
    expect(seen()).toBe("\r\u001b[2K[1/5] building pulumi 3.259.0, 0s, about 5m00s left (the engine)");
    progress.doing("fetching modules");
    expect(seen()).toBe(
      "\r\u001b[2K[1/5] building pulumi 3.259.0, fetching modules, 0s, about 5m00s left (the engine)",
    );
    jest.advanceTimersByTime(2_000);
    expect(seen().split("\r")).toHaveLength(3);
    progress.doing("");
    progress.advance(0, 1500);
    seen();
    jest.advanceTimersByTime(60_000);
    progress.advance(100, 1500);
    seen();
    jest.advanceTimersByTime(1_000);
    // By the 61 s that 100 packages took, not by those that fetching took.
    expect(seen()).toBe(
      "\r\u001b[2K[1/5] building pulumi 3.259.0, 100 of 1500 packages, 1m03s, about 14m14s left (the engine)",
    );
    progress.finish("done");
    expect(seen()).toBe("\r\u001b[2K[1/5] building pulumi 3.259.0: done in 1m03s\n");
    jest.advanceTimersByTime(60_000);
    expect(seen()).toBe("");
  });

  test("on a narrow terminal keeps to its line, and the figures in it", () => {
    const progress = startProgress({ ...step, purpose: "x".repeat(80) }, screen(true, 80));
    progress.advance(1400, 1500);
    seen();
    jest.advanceTimersByTime(1_000);
    const line = seen().replace("\r\u001b[2K", "");
    expect(line).toHaveLength(79);
    expect(line).toContain("1400 of 1500 packages, 1s, nearly done");
    progress.finish("done");
  });

  test("without a terminal is a line at the start, every half minute and at the end", () => {
    const progress = startProgress(step, screen(false));
    expect(seen()).toBe("[1/5] building pulumi 3.259.0, 0s, about 5m00s left (the engine)\n");
    progress.doing("fetching modules");
    jest.advanceTimersByTime(29_000);
    expect(seen()).toBe("");
    jest.advanceTimersByTime(1_000);
    expect(seen()).toBe("[1/5] building pulumi 3.259.0, fetching modules, 30s, about 4m30s left (the engine)\n");
    jest.advanceTimersByTime(60_000);
    expect(seen().split("\n")).toHaveLength(3);
    progress.finish("failed");
    expect(seen()).toBe("[1/5] building pulumi 3.259.0: failed in 1m30s\n");
  });

  test("goes by the clock it is given", () => {
    let now = 5_000;
    const progress = startProgress(step, screen(false), () => now);
    now += 42_000;
    expect(progress.elapsed()).toBe(42);
    progress.finish("done");
    expect(seen()).toContain("done in 42s");
  });
});
