// Every answer in docs/compared.md is proven by tests: the tests that it names have the complaint's number in their titles, and it names all of them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

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
    files: [...text.matchAll(/`(tests\/[^`]+)`/g)].map(([, file = ""]) => file).sort(),
  }));

const texts = globSync("tests/**/*.{ts,yaml}", { cwd: root })
  .filter((file) => !file.endsWith("/comparedDoc.test.ts"))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

/** The files with a test, or a fixture, that has the tag of a complaint in its title. */
function tagged(number: number, among = texts): string[] {
  const tag = `[C${number}]`;
  return among.filter(({ text }) => titles(text).some((title) => title.includes(tag))).map(({ file }) => file);
}

function titles(text: string): string[] {
  return [...text.matchAll(/(?:^title: (.*)$)|(?:\(\s*(["`].*["`]),)/gm)].map(
    ([, fixture, title]) => fixture ?? title ?? "",
  );
}

describe("docs/compared.md", () => {
  test("has every complaint in order: twenty, six more, and the twelve wishes", () => {
    expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: 38 }, (_, index) => index + 1));
  });

  test.each(entries.slice(0, 26))("names the threads of the complaint: $title", ({ threads }) => {
    expect(threads).not.toEqual([]);
  });

  test.each(entries)("says whether the complaint is met, and names tests if it is: $title", ({ verdicts, files }) => {
    expect([["Met"], ["Met in part"], ["Not met yet"]]).toContainEqual(verdicts);
    expect(files.length > 0).toBe(verdicts[0] !== "Not met yet");
  });

  test.each(entries)(
    "names exactly the files with a test that has the tag of the complaint: $title",
    ({ number, files }) => {
      expect(files).toEqual(tagged(number));
    },
  );

  test("has every complaint that a test is tagged with", () => {
    const numbers = texts.flatMap(({ text }) => titles(text).flatMap((title) => [...title.matchAll(/\[C(\d+)\]/g)]));
    expect(numbers.map(([, number]) => Number(number)).filter((number) => number > entries.length)).toEqual([]);
  });

  test("finds tags in titles of tests and fixtures, and nowhere else", () => {
    const among = [
      { file: "a", text: 'test("is tagged [C7]", () => {' },
      { file: "b", text: "title: is tagged [C7] [C8]" },
      { file: "c", text: "  test(`is tagged [C7]`, () => {" },
      { file: "d", text: "// [C7] is a tag\nconst [C7] = list;" },
    ];
    expect(tagged(7, among)).toEqual(["a", "b", "c"]);
    expect(tagged(8, among)).toEqual(["b"]);
  });
});
