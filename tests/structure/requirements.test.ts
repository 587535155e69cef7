// Every id in a title, such as S1.7, is defined in docs/requirements.md.
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";

const page = readFileSync("docs/requirements.md", "utf8");
const defined = [
  ...[...page.matchAll(/^## ([SU]\d?) /gm)].map(([, id = ""]) => id),
  ...[...page.matchAll(/^\| ([SU]\d\S*) \| (.*) \|$/gm)].flatMap(([, id = "", text = ""]) => [
    id,
    ...[...text.matchAll(/\((\d+)\) /g)].map(([, item]) => `${id}(${item})`),
  ]),
];

/** The ids that a text names, such as S1.7, S1.7(6) or U2. */
function idsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w-])(?:S\d+(?:\.\d+(?:\(\d+\))?)?|U\d+)(?![\w.%-]|\()/g)].map(([id]) => id);
}

const files = globSync("{components,stacks,scripts,tests,lab}/**/*.{ts,go,yaml}").filter(
  (file) => !file.includes("fixtures/drift") && !file.endsWith("requirements.test.ts"),
);
const used = files.flatMap((file) => idsIn(readFileSync(file, "utf8")));
/** With the requirement of each named item. */
const named = new Set(used.flatMap((id) => [id, id.replace(/\(.*/, "")]));

describe("docs/requirements.md", () => {
  test("defines every id that a test or a comment names", () => {
    expect([...named].filter((id) => !defined.includes(id)).sort()).toEqual([]);
  });

  test("defines no id that nothing names", () => {
    const requirements = defined.filter((id) => /\.\d+$|^U\d/.test(id));
    expect(requirements.filter((id) => !named.has(id))).toEqual([]);
  });

  test("is matched with ids in every form that titles use", () => {
    expect(idsIn("S1.7(6) fails (S4.2, U3): S0, not SLU-T101, S3-compatible or TLS1.2")).toEqual([
      "S1.7(6)",
      "S4.2",
      "U3",
      "S0",
    ]);
  });
});
