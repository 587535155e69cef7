// Where the repository uses a word that docs/glossary.md asks to avoid.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../base/paths.ts";
import { type Allowed, allowed } from "./allowed.ts";
import { type Avoided, avoided } from "./avoided.ts";
import { humanText } from "./humanText.ts";

export interface Finding {
  readonly file: string;
  readonly line: number;
  /** The words as they are in the file. */
  readonly words: string;
  readonly use: string;
}

interface Rules {
  readonly avoided: readonly Avoided[];
  readonly allowed: readonly Allowed[];
}

const folders = "{.ci,.github,components,docs,lab,packer,scripts,stacks,tests,toolchain}";

/** Recorded answers, and files that contain the words because they are about them. */
const left =
  /^tests\/goldens\/|^tests\/fixtures\/(?!config\/)|\/testdata\/|\/node_modules\/|^docs\/glossary\.md$|\/tools\/words\//;

/** Every file that people read, by its path in the checkout. */
export function wordedFiles(): string[] {
  const files = [
    ...globSync(`${folders}/**/*.{ts,mjs,go,proto,md,yaml,yml,hcl}`, { cwd: root }),
    ...globSync("{*.{ts,mjs,md,yaml},.ci/*}", { cwd: root }),
  ];
  return [...new Set(files)].filter((file) => !left.test(file)).sort();
}

/** The findings in files of the checkout, without exceptions. */
export function findingsIn(files: readonly string[]): Finding[] {
  return files.flatMap((file) => findings(file, readFileSync(join(root, file), "utf8")));
}

/** The findings in one file, in order. */
export function findings(file: string, text: string, rules: Rules = { avoided, allowed }): Finding[] {
  const human = humanText(file, text);
  const exceptions = rules.allowed.filter((one) => matches(file, one));
  return [...human.matchAll(expressionOf(rules.avoided))].flatMap((match) => {
    const end = match.index + match[0].length;
    const around = human.slice(Math.max(0, match.index - 60), end + 60).replace(/\s+/g, " ");
    if (exceptions.some((one) => around.includes(one.text))) return [];
    const rule = rules.avoided[match.slice(1).findIndex((group) => group !== undefined)];
    const line = human.slice(0, match.index).split("\n").length;
    return [{ file, line, words: match[0].replace(/\s+/g, " "), use: rule?.use ?? "" }];
  });
}

function matches(file: string, { file: allowedFile }: Allowed): boolean {
  return allowedFile.endsWith("/") ? file.startsWith(allowedFile) : file === allowedFile;
}

const expressions = new WeakMap<readonly Avoided[], RegExp>();

/** One group for each of them: whole words in either case, even across line ends. */
function expressionOf(list: readonly Avoided[]): RegExp {
  const known = expressions.get(list);
  if (known !== undefined) return known;
  const groups = list.map(({ pattern }) => `(${pattern.replaceAll(" ", "\\s+")})`);
  const made = new RegExp(`\\b(?:${groups.join("|")})\\b`, "gi");
  expressions.set(list, made);
  return made;
}

/** A finding as a line that editors can open. */
export function formatFinding({ file, line, words, use }: Finding): string {
  return `${file}:${line}: "${words}" - use ${use}`;
}
