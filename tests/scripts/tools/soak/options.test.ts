import { resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { soakCase } from "../../../../scripts/tools/soak/cases.ts";
import { parseSoakOptions, readSoakOptions, soakVariable } from "../../../../scripts/tools/soak/options.ts";

describe("the options of a soak", () => {
  test("give each cluster the next seed, and keep the parts that are named", () => {
    expect(parseSoakOptions({ runs: "3", seed: "7" })).toEqual({ seeds: [7, 8, 9], only: undefined });
    expect(parseSoakOptions({ runs: "1", faults: "0,kill" })).toEqual({ seeds: [1], only: [0, "kill"] });
    expect(parseSoakOptions({ runs: "1", faults: "none" })).toEqual({ seeds: [1], only: [] });
    expect(parseSoakOptions({}).seeds).toHaveLength(20);
  });

  test("name the file for the results, wherever the tests run, and not for cases that were reduced", () => {
    expect(parseSoakOptions({ record: "a/b.jsonl" }).record).toBe(resolve("a/b.jsonl"));
    expect(() => parseSoakOptions({ record: "a", faults: "0" })).toThrow("--record is for complete cases");
  });

  test.each([{ runs: "0" }, { seed: "soon" }, { faults: "0,engine" }, { runs: "" }])(
    "are refused where they are no numbers: %j",
    (given) => {
      expect(() => parseSoakOptions(given)).toThrow(/is no whole number from \d on\. See npm run soak -- --help\.$/);
    },
  );

  test("are those that the command hands to its tests", () => {
    const options = { seeds: [4], only: [1] };
    expect(readSoakOptions({ [soakVariable]: JSON.stringify(options) })).toEqual(options);
  });

  test("S1.8 S5.3 are a sample in the whole check: few runs, every platform, and kills before up and before destroy", () => {
    const cases = readSoakOptions({}).seeds.map((seed) => soakCase(seed));
    expect(cases.length).toBeLessThanOrEqual(4);
    expect(new Set(cases.map(({ platform }) => platform)).size).toBe(3);
    expect(new Set(cases.flatMap(({ kill }) => (kill === undefined ? [] : [kill.next])))).toEqual(
      new Set(["up", "destroy"]),
    );
  });
});
