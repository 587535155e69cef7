// Reads go.mod files, and decides the key of what is built from them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../workspace/paths.ts";
import { preparations } from "./engineTools.ts";
import type { Tool } from "./tool.ts";

/** Raise it when the way of building changes what comes out. */
const builderRevision = 1;

/** The folder below toolchain/ that a tool is built from. */
export function moduleFolder(tool: Pick<Tool, "module">): string {
  return join(root, "toolchain", tool.module);
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
  return requiredVersion(readFileSync(join(moduleFolder(tool), tool.moduleFile ?? "go.mod"), "utf8"), tool.versionOf);
}

/**
 * The hash of all that goes into a tool but the Go release: a program that one Go 1.26 built serves as well under the
 * next, and with the release left out a warm start needs no Go at all.
 */
export function toolKey(tool: Tool, platform = `${process.platform}-${process.arch}`): string {
  const { seconds: _seconds, gigabytes: _gigabytes, purpose: _purpose, ...recipe } = tool;
  // The version is compiled in, and does not stand in go.mod for every tool.
  const what = [builderRevision, platform, recipe, toolVersion(tool), preparations[tool.module]];
  const hash = createHash("sha256").update(JSON.stringify(what));
  for (const file of moduleFiles(moduleFolder(tool))) {
    hash.update(`\0${file}\0`).update(readFileSync(join(moduleFolder(tool), file)));
  }
  return hash.digest("hex").slice(0, 16);
}

/** What of a module folder is compiled; tests and notes are not. */
export function moduleFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(go|mod|sum)$/.test(entry.name) && !entry.name.endsWith("_test.go"))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith("patched/"))
    .sort();
}
