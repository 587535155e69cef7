// The real list, compared with the module folders and package.json that it names. Nothing is built or downloaded.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { preparations } from "../../../scripts/toolchain/engineTools.ts";
import { moduleFolder, requiredVersion, toolKey, toolVersion } from "../../../scripts/toolchain/goModule.ts";
import { isProgram, type Program } from "../../../scripts/toolchain/tool.ts";
import { cliTools, plugins, programs, toolNamed, tools } from "../../../scripts/toolchain/tools.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const goMod = (module: string) => readFileSync(join(moduleFolder({ module }), "go.mod"), "utf8");
const exact = /^\d+\.\d+\.\d+$/;

/** The version of an npm package that package.json pins; for a local package, that in its own manifest. */
function npmVersion(name: string): string {
  const pinned: string = manifest.dependencies[name] ?? "missing";
  if (!pinned.startsWith("file:")) return pinned;
  return JSON.parse(readFileSync(join(root, pinned.slice("file:".length), "package.json"), "utf8")).version;
}

describe("each tool", () => {
  test.each(tools.map((tool) => [tool.name, tool] as const))("%s has a locked module and a version", (_, tool) => {
    const { moduleFile = "go.mod" }: Partial<Program> = tool;
    expect(existsSync(join(moduleFolder(tool), moduleFile))).toBe(true);
    expect(existsSync(join(moduleFolder(tool), moduleFile.replace(/mod$/, "sum")))).toBe(true);
    expect(toolVersion(tool)).toMatch(exact);
    expect(tool.seconds).toBeGreaterThan(0);
    expect(tool.gigabytes).toBeGreaterThan(0);
    const scripts = isProgram(tool) && tool.scripts !== undefined ? [tool.scripts] : [];
    for (const { module } of isProgram(tool) ? scripts : tool.copied) requiredVersion(goMod(tool.module), module);
  });

  test("has a name, a key and commands that no other has", () => {
    for (const values of [
      tools.map(({ name }) => name),
      tools.map((tool) => toolKey(tool)),
      programs.flatMap(({ commands }) => commands),
    ]) {
      expect(new Set(values).size).toBe(values.length);
    }
  });

  test("below toolchain/ is compiled only from Go files: others would be neither copied nor part of its key", () => {
    const there = programs.filter(({ folder }) => folder === undefined);
    const files = [...new Set(there.map((tool) => moduleFolder(tool)))].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
    );
    const others = files.filter(({ name }) => !/\.(go|mod|sum|md)$/.test(name));
    expect(others.map(({ parentPath, name }) => join(parentPath, name))).toEqual([]);
  });
});

describe("the edits of a module before it is built", () => {
  test.each(Object.entries(preparations))("%s fits its go.mod", (module, { patched = [], copied = [] }) => {
    expect(tools.some((tool) => tool.module === module)).toBe(true);
    for (const { module: name, folder, edits } of patched) {
      requiredVersion(goMod(module), name);
      expect(goMod(module)).toMatch(new RegExp(`^\\s*(replace )?${name} => \\./patched/${folder}$`, "m"));
      for (const edit of edits) {
        expect(() => new RegExp(edit.find, "gm")).not.toThrow();
        expect(edit.times).toBeGreaterThan(0);
      }
    }
    for (const { module: name } of copied) requiredVersion(goMod(module), name);
  });

  test("is defined for every module that a go.mod replaces by a patched one", () => {
    const others = tools.filter(({ folder }) => folder === undefined);
    for (const module of new Set(others.map((tool) => tool.module))) {
      const replaced = [...goMod(module).matchAll(/=> \.\/patched\/(\S+)$/gm)].map(([, folder]) => folder);
      const patched = (preparations[module]?.patched ?? []).map(({ folder }) => folder);
      expect(replaced.sort()).toEqual(patched.sort());
    }
  });
});

describe("each plugin", () => {
  test.each(plugins.map((plugin) => [plugin.name, plugin] as const))(
    "%s has an npm package at an exact version, and a tool that replaces it",
    (name, plugin) => {
      expect(npmVersion(plugin.npm)).toMatch(exact);
      expect(toolNamed(plugin.tool).commands).toContain(`pulumi-resource-${name}`);
    },
  );

  test.each(plugins.filter(({ tool }) => tool === "plugins").map(({ name, npm }) => [name, npm] as const))(
    "%s has in Go the version of its npm package",
    (name, npm) => {
      const source = readFileSync(join(root, "toolchain", "pulumi", "internal", name, `${name}.go`), "utf8");
      expect(/^const Version = "(.*)"$/m.exec(source)?.[1]).toBe(npmVersion(npm));
    },
  );

  test.each(plugins.filter(({ tool }) => tool !== "plugins").map(({ tool, npm }) => [tool, npm] as const))(
    "%s is built at the version of its npm package",
    (tool, npm) => {
      expect(toolVersion(toolNamed(tool))).toBe(npmVersion(npm));
    },
  );
});

describe("versions", () => {
  test("of the CLI and of the npm SDK are the same", () => {
    expect(cliTools.map(({ name }) => name)).toEqual(["pulumi", "language-host"]);
    expect(toolVersion(toolNamed("pulumi"))).toBe(npmVersion("@pulumi/pulumi"));
  });

  test.each(
    ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) =>
      Object.entries<string>(manifest[kind]).map(([name, version]) => [name, version] as const),
    ),
  )("of %s is pinned exactly: %s", (_, version) => {
    expect(version).toMatch(/^(\d+\.\d+\.\d+|file:[\w/]+)$/);
  });

  test("in package.json are those of package-lock.json", () => {
    const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
    for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
      expect(lock.packages[""][kind]).toEqual(manifest[kind]);
    }
  });
});
