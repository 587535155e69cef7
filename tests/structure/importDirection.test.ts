import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { circles, directory, importsIn, otherDynamicImports, type Sources, topFolder } from "./importGraph.ts";

const root = join(import.meta.dirname, "..", "..");
const files = globSync("{components,stacks,scripts}/**/*.ts", { cwd: root }).sort();
const sources: Sources = Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
const imports = importsIn(sources);

describe("the folders of components, stacks and scripts", () => {
  test.each([
    ["folder, with those inside it,", topFolder],
    ["directory", directory],
  ])("import in one direction: no %s is in a circle of imports", (_, folderOf) => {
    expect(circles(imports, folderOf)).toEqual([]);
  });

  test("are layered: components import no stacks, and neither imports scripts", () => {
    const trees = ["components", "stacks", "scripts"];
    const level = (file: string) => trees.indexOf(file.split("/")[0] ?? "");
    const upward = imports.filter(({ from, to }) => level(to) > level(from) || level(to) < 0);
    expect(upward.filter(({ to }) => !/^(package\.json|sdks\/)/.test(to))).toEqual([]);
  });

  test("import files that exist, and nothing in a form that this test cannot read", () => {
    expect(imports.length).toBeGreaterThan(1_000);
    expect(imports.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
    // The one with which the engine's process for a resource loads the provider's file.
    expect(otherDynamicImports(sources)).toEqual([
      `components/engine/checkoutResource.ts: import(\`\${process.cwd()}/\${file}\`);`,
    ]);
  });
});

describe("the check of import directions", () => {
  const found = (texts: Sources, folderOf = directory) => circles(importsIn(texts), folderOf);

  test.each([
    ["a static import", 'import { b } from "../b/b.ts";'],
    ["an import of types", 'import type { B } from "../b/b.ts";'],
    ["an import for its side effect", 'import "../b/b.ts";'],
    ["a re-export", 'export * from "../b/b.ts";'],
    ["an import over several lines", 'import {\n  b,\n} from "../b/b.ts";'],
    ["a dynamic import", 'const { b } = await import("../b/b.ts");'],
  ])("names both sides of a circle that is closed by %s", (_, text) => {
    expect(found({ "stacks/a/a.ts": text, "stacks/b/b.ts": 'import { a } from "../a/a.ts";' })).toEqual([
      ["stacks/a/a.ts > stacks/b/b.ts", "stacks/b/b.ts > stacks/a/a.ts"],
    ]);
  });

  test("names a circle of three folders, without folders that only lead into it or out of it", () => {
    const texts = {
      "stacks/a/a.ts": 'import "../b/b.ts";',
      "stacks/b/b.ts": 'import "../c/c.ts"; import "../out/x.ts";',
      "stacks/c/c.ts": 'import "../a/a.ts";',
      "stacks/in/y.ts": 'import "../a/a.ts";',
      "stacks/out/x.ts": "",
    };
    expect(found(texts)).toEqual([
      ["stacks/a/a.ts > stacks/b/b.ts", "stacks/b/b.ts > stacks/c/c.ts", "stacks/c/c.ts > stacks/a/a.ts"],
    ]);
  });

  test("names two circles separately, and none if imports have one direction", () => {
    const texts = {
      "stacks/a/a.ts": 'import "../b/b.ts";',
      "stacks/b/b.ts": 'import "../a/a.ts"; import "../c/c.ts";',
      "stacks/c/c.ts": 'import "../d/d.ts";',
      "stacks/d/d.ts": 'import "../c/c.ts";',
    };
    expect(found(texts)).toHaveLength(2);
    expect(found({ ...texts, "stacks/b/b.ts": 'import "../c/c.ts";', "stacks/d/d.ts": "" })).toEqual([]);
  });

  test("finds a circle between folders even if no two directories form one", () => {
    const texts = {
      "stacks/a/one/a.ts": 'import "../../b/b.ts";',
      "stacks/a/other/a.ts": "",
      "stacks/b/b.ts": 'import "../a/other/a.ts";',
    };
    expect(found(texts)).toEqual([]);
    expect(found(texts, topFolder)).toHaveLength(1);
  });

  test("does not treat imports within a folder as a circle", () => {
    expect(found({ "stacks/a/a.ts": 'import "./b.ts";', "stacks/a/b.ts": 'import "./a.ts";' })).toEqual([]);
  });

  test("names a dynamic import that it cannot follow", () => {
    expect(otherDynamicImports({ "stacks/a.ts": "await import(path);" })).toEqual(["stacks/a.ts: import(path);"]);
    expect(otherDynamicImports({ "stacks/a.ts": 'await import("./b.ts");' })).toEqual([]);
  });
});
