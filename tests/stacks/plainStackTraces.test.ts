import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";

const { prepareStackTrace } = Error;
afterEach(() => {
  Error.prepareStackTrace = prepareStackTrace;
});

test("U1 stack traces are Node's own after plainStackTraces was imported, whatever was loaded before", async () => {
  Error.prepareStackTrace = () => "made by a source map";
  expect(new Error("seen").stack).toBe("made by a source map");
  await import("../../stacks/plainStackTraces.ts");
  expect(new Error("seen").stack).toContain("plainStackTraces.test.ts");
});

test("U1 index.ts imports plainStackTraces first", () => {
  const [first] = readFileSync(join(import.meta.dirname, "../../index.ts"), "utf8").split("\n");
  expect(first).toBe('import "./stacks/plainStackTraces.ts";');
});
