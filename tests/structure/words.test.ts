// Everything that people read uses the glossary's words.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { allowed } from "../../scripts/tools/words/allowed.ts";
import { avoided } from "../../scripts/tools/words/avoided.ts";
import { findings, findingsIn, formatFinding, wordedFiles } from "../../scripts/tools/words/findings.ts";

const files = wordedFiles();
const rules = {
  avoided: [
    { words: "zap", use: "fix", pattern: "zap(?:s|ped)?" },
    { words: "hop off at", use: "resume", pattern: "hop off at" },
  ],
  allowed: [],
};
const lines = (file: string, text: string) => findings(file, text, rules).map(({ line, words }) => `${line} ${words}`);

describe("words to avoid", () => {
  test("are not used in the repository", () => {
    expect(findingsIn(files).map(formatFinding)).toEqual([]);
  });

  test("are looked for in documents, TypeScript, Go, workflows and environments", () => {
    expect(files).toEqual(
      expect.arrayContaining([
        "README.md",
        "docs/gates.md",
        "components/errors/catalogue.ts",
        "lab/cmd/sluice-lab/main.go",
        ".github/workflows/check.yaml",
        "Pulumi.dev.yaml",
      ]),
    );
  });

  test("are in docs/glossary.md with what to use in their place", () => {
    const table = readFileSync("docs/glossary.md", "utf8").split("## Words to avoid")[1] ?? "";
    const rows = [...table.matchAll(/^\| (.+) \| (.+) \|$/gm)].slice(2).map(([, words, use]) => ({ words, use }));
    expect(rows).toEqual(avoided.map(({ words, use }) => ({ words, use })));
  });

  test("have no unnecessary exception", () => {
    const without = (exceptions: typeof allowed) =>
      files.reduce(
        (sum, file) => sum + findings(file, readFileSync(file, "utf8"), { avoided, allowed: exceptions }).length,
        0,
      );
    const all = allowed.length === 0 ? 0 : without([]);
    expect(allowed.filter((one) => without([one]) === all)).toEqual([]);
  });
});

describe("a word to avoid is found", () => {
  test("in comments, strings and templates of TypeScript, and not in its code", () => {
    const text = [
      'import { zap } from "./zap.ts";',
      "// zap this",
      "/** It was",
      " *  zapped. */",
      'const zap = "to zap";',
      `call(\`zap \${zap} and zaps\`, /zap/);`,
      "const url = 'http://host/zap'; // zapped",
    ].join("\n");
    expect(lines("a.ts", text)).toEqual([
      "2 zap",
      "4 zapped",
      "5 zap",
      "6 zap",
      "6 zaps",
      "6 zap",
      "7 zap",
      "7 zapped",
    ]);
  });

  test("in comments and strings of Go, and not in its code", () => {
    const text = [
      "// zap this",
      'var zap = "to zap" + `and',
      "zapped`",
      "/* zaps */ zap('\"')",
      'x("\\"zap") // zap',
    ].join("\n");
    expect(lines("a.go", text)).toEqual(["1 zap", "2 zap", "3 zapped", "4 zaps", "5 zap", "5 zap"]);
  });

  test("in documents and YAML, in comments too", () => {
    expect(lines("a.md", "Zap it.\n\n    zapped")).toEqual(["1 Zap", "3 zapped"]);
    expect(lines("a.yaml", "key: zapped # to zap")).toEqual(["1 zapped", "1 zap"]);
  });

  test("when a sentence spans several lines", () => {
    expect(lines("a.md", "to hop\noff at it")).toEqual(["1 hop off at"]);
    expect(lines("a.ts", "/**\n * to hop\n * off at it\n */")).toEqual(["2 hop off at"]);
    expect(lines("a.go", "// to hop off\n\t// at it")).toEqual(["1 hop off at"]);
    expect(lines("a.yaml", "# to hop\n# off at it")).toEqual(["1 hop off at"]);
  });

  test("as a whole word only, and after an escape", () => {
    expect(lines("a.md", "unzapped, a zapper")).toEqual([]);
    expect(lines("a.ts", 'print("\\nzapped")')).toEqual(["1 zapped"]);
  });

  test("and reported with its place and what to use", () => {
    const [finding] = findings("docs/a.md", "one\nZap it.", rules);
    expect(finding && formatFinding(finding)).toBe('docs/a.md:2: "Zap" - use fix');
  });

  test("unless it is allowed there", () => {
    const exceptions = [{ file: "docs/", text: "the road zapper: zap it", reason: "a quotation" }];
    const found = (file: string) =>
      findings(file, "As said by the road zapper: zap it.", { ...rules, allowed: exceptions });
    expect(found("docs/a.md")).toEqual([]);
    expect(found("README.md")).toHaveLength(1);
  });
});
