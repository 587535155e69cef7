// docs/drift.md has every drift that the chain's tests make, and no other, with what `up` does about it.
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { drifts } from "../../lab/support/drifts.ts";

const page = readFileSync("docs/drift.md", "utf8");
const rows = [...page.matchAll(/^\| (.+?) \| .+ \| (mended|refused)\b.* \|$/gm)].map(([, name, end]) => [name, end]);

test("U3 docs/drift.md tells of every drift what the tests prove of it", () => {
  expect(rows).toEqual(Object.entries(drifts));
});

test.each(Object.keys(drifts))("U3 a test of the chain makes it: %s", (name) => {
  const made = ["driftOfNodes", "driftOfPlatform"].map((file) => readFileSync(`tests/chain/${file}.test.ts`, "utf8"));
  const titles = made.flatMap((text) => [...text.matchAll(/named\(([^)]*)\)/g)].map(([, names = ""]) => names));
  expect(titles.filter((names) => names.includes(`"${name}"`))).toHaveLength(1);
});
