import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { leftByPackages, outlook, type Screen, type Step, startProgress } from "../../../scripts/toolchain/progress.ts";

describe("the estimate", () => {
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
  const step: Step = { what: "building pulumi 3.259.0", purpose: "the engine", expected: 300 };
  const next: Step = { what: "building plugins 3.137.0", purpose: "three plugins", expected: 100 };
  const seen = () => {
    const text = written;
    written = "";
    return text;
  };
  const startSteps = (steps: readonly Step[], ...rest: [screen: Screen, now?: () => number]) => {
    const progress = startProgress(steps, ...rest);
    const [first, second] = progress.steps;
    if (first === undefined) throw new Error("no step");
    return { ...progress, first, second: second ?? first };
  };

  test("on a terminal is one line that rewrites itself every second", () => {
    const { first, stop } = startSteps([step], screen(true));
    expect(seen()).toBe("");
    first.begin();
    expect(seen()).toBe("[1/1] building pulumi 3.259.0, 0s, about 5m00s left (the engine)");
    first.doing("fetching modules");
    expect(seen()).toBe(
      "\r\u001b[2K[1/1] building pulumi 3.259.0, fetching modules, 0s, about 5m00s left (the engine)",
    );
    jest.advanceTimersByTime(2_000);
    expect(seen().split("\r")).toHaveLength(3);
    first.doing("");
    first.advance(0, 1500);
    seen();
    jest.advanceTimersByTime(60_000);
    first.advance(100, 1500);
    seen();
    jest.advanceTimersByTime(1_000);
    // By the 61 s that 100 packages took, not by those that the download took.
    expect(seen()).toBe(
      "\r\u001b[2K[1/1] building pulumi 3.259.0, 100 of 1500 packages, 1m03s, about 14m14s left (the engine)",
    );
    first.finish("done");
    expect(seen()).toBe("\r\u001b[2K[1/1] building pulumi 3.259.0: done in 1m03s\n");
    stop();
    jest.advanceTimersByTime(60_000);
    expect(seen()).toBe("");
  });

  test("on a narrow terminal stays on its line, with the figures", () => {
    const { first, stop } = startSteps([{ ...step, purpose: "x".repeat(80) }], screen(true, 80));
    first.begin();
    first.advance(1400, 1500);
    seen();
    jest.advanceTimersByTime(1_000);
    const line = seen().replace("\r\u001b[2K", "");
    expect(line).toHaveLength(79);
    expect(line).toContain("1400 of 1500 packages, 1s, nearly done");
    stop();
  });

  test("without a terminal is a line at the start, every five seconds and at the end", () => {
    const { first, stop } = startSteps([step], screen(false));
    first.begin();
    expect(seen()).toBe("[1/1] building pulumi 3.259.0, 0s, about 5m00s left (the engine)\n");
    first.doing("fetching modules");
    jest.advanceTimersByTime(4_000);
    expect(seen()).toBe("");
    jest.advanceTimersByTime(1_000);
    expect(seen()).toBe("[1/1] building pulumi 3.259.0, fetching modules, 5s, about 4m55s left (the engine)\n");
    jest.advanceTimersByTime(10_000);
    expect(seen().split("\n")).toHaveLength(3);
    first.finish("failed");
    expect(seen()).toBe("[1/1] building pulumi 3.259.0: failed in 15s\n");
    stop();
  });

  test("estimates what is left of all steps, from the speed of the finished ones", () => {
    let now = 0;
    const { first, second, stop } = startSteps([step, next], screen(false), () => now);
    first.begin();
    expect(seen()).toContain("[1/2] building pulumi 3.259.0, 0s, about 6m40s left");
    now += 135_000;
    first.finish("done");
    second.begin();
    // Half as long as expected, so half of the expected rest is left.
    expect(seen()).toBe(
      "[1/2] building pulumi 3.259.0: done in 2m15s\n[2/2] building plugins 3.137.0, 0s, about 50s left (three plugins)\n",
    );
    stop();
  });

  test("of two overlapping steps shows the one that started last, and then the other", () => {
    const { first, second, stop } = startSteps([step, next], screen(false));
    first.begin();
    first.doing("linking");
    second.begin();
    seen();
    jest.advanceTimersByTime(5_000);
    expect(seen()).toMatch(/^\[2\/2] building plugins/);
    second.finish("done");
    seen();
    jest.advanceTimersByTime(5_000);
    expect(seen()).toMatch(/^\[1\/2] building pulumi 3\.259\.0, linking, 10s,/);
    stop();
  });

  test("leaves out steps that turn out to be unnecessary", () => {
    const { first, second, drop, stop } = startSteps([step, next], screen(false));
    drop([second]);
    first.begin();
    expect(seen()).toBe("[1/1] building pulumi 3.259.0, 0s, about 5m00s left (the engine)\n");
    stop();
  });

  test("prints other lines without garbling its own", () => {
    const { first, print, stop } = startSteps([step], screen(true));
    first.begin();
    seen();
    print("something else\n");
    expect(seen()).toBe("\r\u001b[2Ksomething else\n");
    jest.advanceTimersByTime(1_000);
    expect(seen()).toMatch(/^\[1\/1] building/);
    stop();
    expect(seen()).toBe("\r\u001b[2K");
  });
});
