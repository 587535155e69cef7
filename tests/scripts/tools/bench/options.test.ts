import { describe, expect, test } from "@jest/globals";
import { benchVariable, parseBenchOptions, readBenchOptions } from "../../../../scripts/tools/bench/options.ts";

describe("npm run bench", () => {
  test("U1 measures three rounds of three control planes and three workers by default", () => {
    expect(parseBenchOptions({})).toEqual({ rounds: 3, controlPlanes: 3, workers: 3 });
    expect(readBenchOptions({})).toEqual({ rounds: 3, controlPlanes: 3, workers: 3 });
  });

  test("U1 passes its options on to the measurement", () => {
    const options = parseBenchOptions({ rounds: "5", nodes: "1+0", record: "/tmp/runs", chart: "/tmp/chart.svg" });
    expect(options).toEqual({ rounds: 5, controlPlanes: 1, workers: 0, record: "/tmp/runs", chart: "/tmp/chart.svg" });
    expect(readBenchOptions({ [benchVariable]: JSON.stringify(options) })).toEqual(options);
    expect(parseBenchOptions({ quick: true })).toMatchObject({ rounds: 1 });
  });

  test.each([
    [{ rounds: "0" }, "--rounds: '0' is no whole number from 1 on"],
    [{ rounds: "two" }, "--rounds: 'two' is no whole number from 1 on"],
    [{ nodes: "3" }, "--nodes: '3' is not <control planes>+<workers>, such as 3+3"],
    [{ nodes: "2+2" }, "with 1, 3 or 5 control planes"],
    [{ nodes: "3+500" }, "at most 200 workers"],
    [{ quick: true, rounds: "2" }, "--quick is one round: leave out --rounds"],
  ])("U1 refuses %j", (given, message) => {
    expect(() => parseBenchOptions(given)).toThrow(message);
  });
});
