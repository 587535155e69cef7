import { describe, expect, test } from "@jest/globals";
import { type BenchRun, compare, figureOf, measures } from "../../../../scripts/tools/bench/figures.ts";

const run = (program: BenchRun["program"], step: BenchRun["step"], seconds: number, more: Partial<BenchRun> = {}) => ({
  program,
  step,
  usage: { seconds, cpuSeconds: seconds / 2, peakMegabytes: 100 * seconds },
  ...more,
});

describe("S10.3 the figure of several values", () => {
  test.each([
    [[3, 1, 2], { median: 2, least: 1, most: 3 }],
    [[4, 1, 2, 3], { median: 2.5, least: 1, most: 4 }],
    [[7], { median: 7, least: 7, most: 7 }],
  ])("of %j is their median with their spread", (values, figure) => {
    expect(figureOf(values)).toEqual(figure);
  });

  test("does not exist without values", () => {
    expect(figureOf([])).toBeUndefined();
  });
});

describe("S10.3 a comparison", () => {
  const runs = [
    run("sluice", "up", 20, { untilReconciledSeconds: 0, stateBytes: 500_000 }),
    run("plain", "up", 20, { untilReconciledSeconds: 5, stateBytes: 250_000 }),
    run("sluice", "destroy", 6),
    run("plain", "destroy", 24),
    run("sluice", "refresh", 5),
    run("plain", "refresh", 2),
    run("sluice", "preview", 3),
  ];
  const ratios = Object.fromEntries(
    compare(runs).map(({ measure, ratio, isMet }) => [measure.title, { ratio, isMet }]),
  );

  test("has the ratio of the medians, and whether it meets the goal", () => {
    expect(ratios).toEqual({
      "up from nothing": { ratio: 1, isMet: true },
      "up, until Flux has reconciled": { ratio: 0.8, isMet: true },
      refresh: { ratio: 2.5, isMet: false },
      destroy: { ratio: 0.25, isMet: true },
      "processor time of up": { ratio: 1, isMet: true },
      "peak memory of up": { ratio: 1, isMet: true },
      state: { ratio: 2, isMet: undefined },
    });
  });

  test("leaves out what only one program has done", () => {
    expect(Object.keys(ratios)).not.toContain("preview");
  });

  test("has each measure once", () => {
    const titles = measures.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
