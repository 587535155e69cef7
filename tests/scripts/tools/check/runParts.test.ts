import { describe, expect, test } from "@jest/globals";
import { parts, wholeCheck } from "../../../../scripts/tools/check/parts.ts";
import { stepsOf, takesOptions } from "../../../../scripts/tools/check/runParts.ts";
import { countsIn } from "../../../../scripts/tools/check/suites.ts";

const namesOf = (names: readonly string[]) =>
  stepsOf(parts.filter(({ name }) => names.includes(name))).map((step) => step.map(({ name }) => name));

describe("the parts of the check", () => {
  test("run one after the other, and those that mostly wait together", () => {
    expect(stepsOf(wholeCheck).map((step) => step.map(({ name }) => name))).toEqual([
      ...["types", "lint", "gofmt", "workflows", "unit", "go", "sdk", "plugins"].map((name) => [name]),
      ["engine", "lab", "chain", "soak"],
    ]);
    expect(namesOf(["unit", "plugins", "lab"])).toEqual([["unit"], ["plugins"], ["lab"]]);
  });

  test("pass options on only to test runners", () => {
    expect(parts.filter((part) => !takesOptions(part)).map(({ name }) => name)).toEqual([
      ...["types", "lint", "gofmt", "workflows", "sdk"],
    ]);
  });
});

describe("what Jest reports", () => {
  test("counts as failed also for a suite that does not load", () => {
    expect(countsIn({ numPassedTests: 3, numFailedTests: 1, numRuntimeErrorTestSuites: 1 })).toEqual({
      passed: 3,
      failed: 2,
    });
  });

  test("is a failure if it has no test at all, or there is no report", () => {
    expect(countsIn({ numPassedTests: 0, numFailedTests: 0 })).toEqual({ passed: 0, failed: 1 });
    expect(countsIn({})).toEqual({ passed: 0, failed: 1 });
  });
});
