// Every row of docs/disasters.md names the test that tried it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";

const page = readFileSync(join(root, "docs", "disasters.md"), "utf8");
const rows = [...page.matchAll(/^\| (.+?) \|.*\| `(tests\/\S+)`: (.+) \|$/gm)].map(
  ([, lost = "", file = "", title = ""]) => ({ lost, file, title }),
);

test("S7.4 the page of disasters has a row for each kind of loss", () => {
  expect(rows.length).toBeGreaterThan(7);
  expect(rows).toHaveLength(
    page.split("\n").filter((line) => /^\| (?!lost |---)/.test(line) && line.includes("`tests/")).length,
  );
});

test.each(rows)("S7.4 the disaster '$lost' is tried by a test", ({ file, title }) => {
  expect(existsSync(join(root, file)) && readFileSync(join(root, file), "utf8")).toContain(title);
});
