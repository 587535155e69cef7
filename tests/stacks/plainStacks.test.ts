import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";

const { prepareStackTrace } = Error;
afterEach(() => {
  Error.prepareStackTrace = prepareStackTrace;
});

test("U1 stack traces of the program are Node's own, whatever was loaded before", async () => {
  Error.prepareStackTrace = () => "told by a map";
  expect(new Error("seen").stack).toBe("told by a map");
  await import("../../stacks/plainStacks.ts");
  expect(new Error("seen").stack).toContain("plainStacks.test.ts");
});

test("U1 the program has that before anything that makes one", () => {
  const [first] = readFileSync(join(import.meta.dirname, "../../index.ts"), "utf8").split("\n");
  expect(first).toBe('import "./stacks/plainStacks.ts";');
});
