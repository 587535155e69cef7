// The program that takes backups inside the cluster: its file, and all that these import, as one archive. A ConfigMap has it, and Node unpacks it.
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const entry = "components/backup/inCluster/main.ts";

/** Statements that load a module when the program starts. Imports of types are none, and what is loaded later is not needed in the cluster. */
const imports = /^(?:import|export)\s(?!type\b)(?:[^"';]*\sfrom\s)?"([^"]+)"/gm;

/** The name of the archive, and of what unpacks and starts it. */
export const archiveFile = "program.json.gz";
export const startFile = "start.mjs";

/** Runs in the pod. */
export function startScript(): string {
  return readFileSync(new URL(startFile, import.meta.url), "utf8");
}

/** All files of the program, by their paths in the checkout. */
export function programFiles(): Readonly<Record<string, string>> {
  const found = new Map<string, string>([["package.json", '{ "type": "module" }\n']]);
  const add = (file: string) => {
    if (found.has(file)) return;
    const text = readFileSync(join(root, file), "utf8");
    found.set(file, text);
    for (const [, name = ""] of text.matchAll(imports)) {
      if (name.startsWith("node:")) continue;
      if (name.startsWith(".")) add(relative(root, resolve(root, dirname(file), name)));
      else addPackage(name);
    }
  };
  /** Its module, beside the package.json by which Node finds that. */
  const addPackage = (name: string) => {
    const folder = join("node_modules", name);
    const description = readFileSync(join(root, folder, "package.json"), "utf8");
    found.set(join(folder, "package.json"), description);
    add(join(folder, JSON.parse(description).exports["."].import.default));
  };
  add(entry);
  return Object.fromEntries([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The same bytes for the same files. */
export function archive(): Buffer {
  return gzipSync(JSON.stringify(programFiles()), { level: 9 });
}
