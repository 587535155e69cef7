// Everything that documents name exists: npm scripts, environments, commands, links, files.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { commandNames } from "../../support/commands.ts";

const root = join(import.meta.dirname, "../../..");
const files = [...globSync("docs/**/*.md", { cwd: root }), "README.md", "CONTRIBUTING.md", "AGENTS.md", "lab/README.md"]
  .filter((file) => existsSync(join(root, file)))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const environments = readdirSync(root).flatMap((file) => /^Pulumi\.([\w-]+)\.yaml$/.exec(file)?.[1] ?? []);

/** The name that GitHub gives a heading as a link target. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

describe("a document", () => {
  test.each(files)("$file names existing npm scripts", ({ text }) => {
    const named = [...text.matchAll(/npm run (?:-s |--silent )?([\w|-]+)/g)].flatMap(([, names = ""]) =>
      names.split("|"),
    );
    for (const name of named) expect(scripts).toHaveProperty([name]);
  });

  test.each(files)("$file names existing environments, or the user's own `mine`", ({ text }) => {
    const calls = text.matchAll(/npm run (?:preview|up|refresh|destroy|render|drift|[\w|]*\|[\w|]*) -- ([\w-]+)/g);
    for (const [, name = ""] of calls) expect([...environments, "mine"]).toContain(name);
  });

  test.each(files)("$file names existing commands of scripts/", ({ text }) => {
    for (const [, name = ""] of text.matchAll(/scripts\/run\.mjs (\w+)/g)) {
      expect(commandNames).toContain(name);
    }
  });

  test.each(files)("$file links to existing pages and headings", ({ file, text }) => {
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [path = "", heading] = target.split("#");
        const place = path === "" ? join(root, file) : join(root, dirname(file), path);
        if (relative(root, place).startsWith("..") || !existsSync(place)) return true;
        if (heading === undefined) return false;
        return ![...readFileSync(place, "utf8").matchAll(/^#+ (.*)$/gm)].some(
          ([, line = ""]) => anchor(line) === heading,
        );
      });
    expect(broken).toEqual([]);
  });

  test.each(files)("$file names existing folders and files", ({ text }) => {
    const ours = /`((?:stacks|components|scripts|toolchain|tests|docs|lab|sdks)\/[\w./-]*)`/g;
    const missing = [...text.matchAll(ours)]
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });
});

test("every page of docs/ is linked from somewhere", () => {
  const linked = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = ""]) => join(dirname(file), target)),
  );
  const pages = files.map(({ file }) => file).filter((file) => file.startsWith("docs/"));
  const listed = (page: string) => linked.includes(page) || linked.includes(`${dirname(page)}/`);
  expect(pages.filter((page) => !listed(page))).toEqual([]);
});
