// docs/drift.md has every drift that there is a name for, and no other, with what `up` does about it.
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { drifts } from "../../lab/support/drifts.ts";

const page = readFileSync("docs/drift.md", "utf8");
const rows = [...page.matchAll(/^\| (.+?) \| .+ \| (mended|refused)\b.* \|$/gm)].map(([, name, end]) => [name, end]);

test("U3 docs/drift.md has every drift, and what `up` does about it", () => {
  expect(rows).toEqual(Object.entries(drifts));
});

test("U3 docs/drift.md says which of them were seen through on the lab, and claims no more", () => {
  const [, said = ""] = /^Seen through on the lab, .*?: (.+)\.$/m.exec(page) ?? [];
  const tests = globSync("tests/chain/drift*.test.ts").map((file) => readFileSync(file, "utf8"));
  const titles = tests.flatMap((text) =>
    [...text.matchAll(/^ {2}test\((.+?), async/gm)].map(([, title = ""]) => title),
  );
  const tried = Object.keys(drifts).filter((name) => titles.some((title) => title.includes(name)));
  expect(said.split("; ")).toEqual(tried);
});
