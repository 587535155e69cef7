// The ten failure scenarios of S1.7, each in several variants: a test whose title has `S1.7(3)` is a variant of the third.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "..", "..");

/** Titles of tests, and not of groups of them. */
const titles = globSync("tests/**/*.test.ts", { cwd: root }).flatMap((file) => {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/\btest(?:\.each)?\S*\(\s*"([^"\n]*)"/g)].map(([, title = ""]) => title);
});

test("S1.7 the titles of tests are found", () => {
  expect(titles.length).toBeGreaterThan(1_000);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("S1.7 failure scenario %i has at least five variants", (scenario) => {
  const variants = titles.filter((title) => title.includes(`S1.7(${scenario})`));
  expect(variants.length).toBeGreaterThanOrEqual(5);
});
