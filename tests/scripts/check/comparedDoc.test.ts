// docs/compared.md claims nothing that no test shows: those that it names exist, under the titles it gives.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../../..");
const page = readFileSync(join(root, "docs", "compared.md"), "utf8");

const entries = page
  .split(/^### /m)
  .slice(1)
  .map((text) => ({
    title: text.slice(0, text.indexOf("\n")),
    number: Number(/^(\d+)\. /.exec(text)?.[1]),
    verdicts: [...text.matchAll(/^\*\*(.+?)\.\*\*/gm)].map(([, verdict]) => verdict),
    threads: [...text.matchAll(/[\w-]+\/[\w.-]+#\d+/g)].map(([thread]) => thread),
    shownBy: [...text.matchAll(/^- `(.+?)`: (.+)$/gm)].map(([, file = "", name = ""]) => ({ file, name })),
  }));

/** Whether a test of the file has that title; of a fixture, whether it is the fixture's. */
function hasTest(file: string, name: string): boolean {
  const path = join(root, file);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, "utf8");
  if (file.endsWith(".yaml")) return parse(text).title === name;
  return [...text.matchAll(/\(\s*("(?:[^"\\]|\\.)*"),/g)].some(([, literal]) => literal === JSON.stringify(name));
}

describe("docs/compared.md", () => {
  test("has every complaint, in its order: twenty, six more, and the twelve wishes", () => {
    expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: 38 }, (_, index) => index + 1));
  });

  test.each(entries.slice(0, 26))("says where it was complained: $title", ({ threads }) => {
    expect(threads).not.toEqual([]);
  });

  test.each(entries)("says whether it is met, and by which tests that is seen: $title", ({ verdicts, shownBy }) => {
    expect([["Met"], ["Met in part"], ["Not met yet"]]).toContainEqual(verdicts);
    expect(shownBy.length > 0).toBe(verdicts[0] !== "Not met yet");
  });

  test.each(entries.flatMap(({ shownBy }) => shownBy))("names a test that there is: $file: $name", ({ file, name }) => {
    expect(hasTest(file, name)).toBe(true);
  });

  test("would tell a test that is not there", () => {
    expect(hasTest("tests/scripts/check/comparedDoc.test.ts", "would tell a test that is not there")).toBe(true);
    expect(hasTest("tests/scripts/check/comparedDoc.test.ts", "would tell a test that is not")).toBe(false);
    expect(hasTest("tests/scripts/check/absent.test.ts", "would tell a test that is not there")).toBe(false);
  });
});
