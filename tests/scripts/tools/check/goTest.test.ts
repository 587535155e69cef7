import { describe, expect, test } from "@jest/globals";
import { readGoTest } from "../../../../scripts/tools/check/goTest.ts";

/** The result of these events, passed in pieces of the given number of characters. */
function read(events: readonly (object | string)[], piece = 1_000) {
  const printed: string[] = [];
  const report = readGoTest((line) => printed.push(line));
  const text = events.map((event) => `${typeof event === "string" ? event : JSON.stringify(event)}\n`).join("");
  for (let at = 0; at < text.length; at += piece) report.hear(text.slice(at, at + piece));
  return { counts: report.counts(), printed };
}

const output = (Test: string, Output: string) => ({ Action: "output", Package: "lab/a", Test, Output });
const ended = (Action: string, Test: string | undefined, Package = "lab/a") => ({
  Action,
  Package,
  Test,
  Elapsed: 1.24,
});

describe("the output of go test", () => {
  test.each([1, 7, 1_000])("is counted by tests, in pieces of any size: %d characters at a time", (piece) => {
    const events = [
      ended("run", "TestA"),
      output("TestA", "said by one that passes\n"),
      ended("pass", "TestA"),
      ended("skip", "TestSkipped"),
      ended("pass", undefined),
    ];
    expect(read(events, piece)).toEqual({ counts: { passed: 1, failed: 0 }, printed: ["ok   lab/a 1.2s"] });
  });

  test("is shown for a test that fails, and for no other", () => {
    const events = [
      output("TestA", "good\n"),
      output("TestB", "    b_test.go:7: seen 2, want 3\n"),
      ended("pass", "TestA"),
      ended("fail", "TestB"),
      ended("fail", undefined),
    ];
    expect(read(events)).toEqual({
      counts: { passed: 1, failed: 1 },
      printed: ["    b_test.go:7: seen 2, want 3", "FAIL lab/a 1.2s"],
    });
  });

  test("counts subtests, and not the tests that contain them", () => {
    const events = [
      ended("pass", "TestA/one/deep"),
      ended("pass", "TestA/one"),
      ended("fail", "TestA/two"),
      ended("fail", "TestA"),
      ended("pass", "TestB/only"),
      ended("pass", "TestB"),
      ended("fail", undefined),
    ];
    expect(read(events).counts).toEqual({ passed: 2, failed: 1 });
  });

  test("counts a test that fails although its subtests pass", () => {
    const events = [ended("pass", "TestA/one"), ended("fail", "TestA"), ended("fail", undefined)];
    expect(read(events).counts).toEqual({ passed: 1, failed: 1 });
  });

  test("counts a package that does not compile, and shows why", () => {
    const events = [
      { Action: "build-output", ImportPath: "lab/a [lab/a.test]", Output: "a.go:3:1: undefined: y\n" },
      { Action: "build-fail", ImportPath: "lab/a [lab/a.test]" },
      { Action: "output", Package: "lab/a", Output: "FAIL\tlab/a [build failed]\n" },
      ended("fail", undefined),
      ended("pass", "TestOther", "lab/b"),
      ended("pass", undefined, "lab/b"),
    ];
    expect(read(events)).toEqual({
      counts: { passed: 1, failed: 1 },
      printed: ["a.go:3:1: undefined: y", "FAIL\tlab/a [build failed]", "FAIL lab/a 1.2s", "ok   lab/b 1.2s"],
    });
  });

  test("is passed on if it is not an event", () => {
    expect(read(["go: no such tool", ""]).printed).toEqual(["go: no such tool"]);
  });
});
