import { describe, expect, test } from "@jest/globals";
import type { BenchRun } from "../../../../scripts/tools/bench/figures.ts";
import { benchChart, benchTable } from "../../../../scripts/tools/bench/report.ts";

const facts = { cluster: "3 control planes and 3 workers", rounds: 2, load: 0.4 };
const runs: readonly BenchRun[] = [
  ["sluice", 20],
  ["plain", 18],
  ["sluice", 22],
  ["plain", 20],
].map(([program, seconds]) => ({
  program: program as BenchRun["program"],
  step: "up",
  usage: { seconds: Number(seconds), cpuSeconds: 9, peakMegabytes: 1234.4 },
  untilReconciledSeconds: 0,
  stateBytes: 480_000,
}));

describe("S10.3 the bench's report", () => {
  test("is a table with medians, their spread, the ratio and the goal", () => {
    expect(benchTable(runs, facts).split("\n")).toEqual([
      "3 control planes and 3 workers; 2 rounds, in turns: median (least to most); load 0.4 before.",
      "",
      "|  | Sluice | plain program | ratio | goal |",
      "| --- | --- | --- | --- | --- |",
      "| up from nothing | 21.0 s (20.0 to 22.0) | 19.0 s (18.0 to 20.0) | 1.11 | 1.1: not met |",
      "| up, until Flux has reconciled | 21.0 s (20.0 to 22.0) | 19.0 s (18.0 to 20.0) | 1.11 | 1.1: not met |",
      "| processor time of up | 9.0 s | 9.0 s | 1.00 | 1.3: met |",
      "| peak memory of up | 1234 MB | 1234 MB | 1.00 | 1.3: met |",
      "| state | 480 kB | 480 kB | 1.00 |  |",
      "",
    ]);
  });

  test("says that there was one round, without a spread", () => {
    const [first] = benchTable(runs.slice(0, 2), { ...facts, rounds: 1 }).split("\n");
    expect(first).toBe("3 control planes and 3 workers; one round; load 0.4 before.");
  });

  test("is a chart in which the longest bar fills the space, and no bar leaves it", () => {
    const chart = benchChart(runs, facts);
    const widths = [...chart.matchAll(/<rect x="210" y="[\d.]+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toHaveLength(6);
    expect(Math.max(...widths)).toBe(420);
    expect(chart).toMatch(/^<svg .*>\n.*<\/svg>\n$/s);
  });

  test("draws nothing that has no values", () => {
    expect(benchChart([], facts)).not.toContain('x="210" y="62"');
  });
});
