// Reads go.mod files, and computes the key of what is built from them.
import { createHash } from "node:crypto";
import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "../base/paths.ts";
import { preparations } from "./engineTools.ts";
import { isProgram, type Tool } from "./tool.ts";

/** Increase it when a change of the build process changes its results. */
const builderRevision = 1;

/** The folder that a tool is built from. */
export function moduleFolder({ module, folder = join("toolchain", module) }: Pick<Tool, "module" | "folder">): string {
  return join(root, folder);
}

/** The version that go.mod requires of a module, without the leading v. */
export function requiredVersion(goMod: string, module: string): string {
  let block: string | undefined;
  for (const line of goMod.split("\n")) {
    const words = line
      .replace(/\/\/.*/, "")
      .trim()
      .split(/\s+/);
    if (words[1] === "(") block = words[0];
    else if (words[0] === ")") block = undefined;
    const [directive, path, version] = block === undefined ? words : [block, ...words];
    if (directive === "require" && path === module && version?.startsWith("v")) return version.slice(1);
  }
  throw new Error(`go.mod does not require ${module}`);
}

/** A tool's version, from its go.mod or from package.json. */
export function toolVersion(tool: Tool): string {
  if (tool.versionOf.startsWith("npm:")) {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    return dependencies[tool.versionOf.slice("npm:".length)];
  }
  const moduleFile = (isProgram(tool) && tool.moduleFile) || "go.mod";
  return requiredVersion(readFileSync(join(moduleFolder(tool), moduleFile), "utf8"), tool.versionOf);
}

/**
 * The hash of everything that a tool is built from except the Go release: a program that one Go 1.26 built works as well under the next, and without the
 * release a warm start needs no Go at all.
 */
export function toolKey(tool: Tool, platform = `${process.platform}-${process.arch}`): string {
  const { seconds: _seconds, gigabytes: _gigabytes, purpose: _purpose, ...recipe } = tool;
  // The version is compiled in, and not every tool's is in go.mod.
  const what = [builderRevision, platform, recipe, toolVersion(tool), preparations[tool.module]];
  const hash = createHash("sha256").update(JSON.stringify(what));
  for (const file of sourceFiles(tool)) {
    hash.update(`\0${file}\0`).update(readFileSync(join(moduleFolder(tool), file)));
  }
  return hash.digest("hex").slice(0, 16);
}

/** The committed files that a tool is made from. */
export function sourceFiles(tool: Tool): string[] {
  const folder = moduleFolder(tool);
  if (isProgram(tool)) return moduleFiles(folder);
  return filesBelow(folder, ".")
    .filter((file) => !file.endsWith(".md"))
    .sort();
}

/** The files of a module folder that are compiled: Go files, and what they embed. Not tests and notes. */
export function moduleFiles(folder: string): string[] {
  const files = filesBelow(folder, ".").filter(
    (file) => /\.(go|mod|sum)$/.test(file) && !file.endsWith("_test.go") && !/^patched\/|(^|\/)testdata\//.test(file),
  );
  const embedded = files.filter((file) => file.endsWith(".go")).flatMap((file) => embeddedFiles(folder, file));
  return [...new Set([...files, ...embedded])].sort();
}

/** The files that a Go file embeds, as far as they exist: some are copied from other modules first. */
function embeddedFiles(folder: string, goFile: string): string[] {
  const directives = readFileSync(join(folder, goFile), "utf8").matchAll(/^\s*\/\/go:embed (.+)$/gm);
  const patterns = [...directives].flatMap(([, words = ""]) => words.split(" ").filter((word) => word !== ""));
  return patterns
    .map((pattern) => join(dirname(goFile), pattern.replace(/^all:/, "")))
    .flatMap((pattern) => globSync(pattern, { cwd: folder }))
    .flatMap((path) => (statSync(join(folder, path)).isDirectory() ? filesBelow(folder, path) : [path]));
}

/** The files below one folder, by their paths below another. */
function filesBelow(base: string, folder: string): string[] {
  return readdirSync(join(base, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(base, join(entry.parentPath, entry.name)));
}
