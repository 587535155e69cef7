// docs/drift.md has exactly the kinds of drift that have a name, with what `up` does about each.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { drifts } from "../../lab/support/drifts.ts";

const page = readFileSync("docs/drift.md", "utf8");
const rows = [...page.matchAll(/^\| (.+?) \| .+ \| (fixed|refused)\b.* \|$/gm)].map(([, name, end]) => [name, end]);

test("U3 docs/drift.md has every drift, and what `up` does about it [C32]", () => {
  expect(rows).toEqual(Object.entries(drifts));
});

test.each(Object.keys(drifts))("U3 a test of the chain causes it: %s", (name) => {
  const tests = globSync("tests/{chain,variants}/drift*.test.ts").map((file) => readFileSync(file, "utf8"));
  const made = tests.flatMap((text) => [...text.matchAll(/named\(([^)]*)\)/g)].map(([, names = ""]) => names));
  expect(made.filter((names) => names.includes(`"${name}"`))).toHaveLength(1);
});
