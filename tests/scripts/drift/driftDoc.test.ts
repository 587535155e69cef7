// docs/drift.md has every drift that there is a name for, and no other, with what `up` does about it.
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { drifts } from "../../lab/support/drifts.ts";

const page = readFileSync("docs/drift.md", "utf8");
const rows = [...page.matchAll(/^\| (.+?) \| .+ \| (mended|refused)\b.* \|$/gm)].map(([, name, end]) => [name, end]);

test("U3 docs/drift.md has every drift, and what `up` does about it", () => {
  expect(rows).toEqual(Object.entries(drifts));
});
