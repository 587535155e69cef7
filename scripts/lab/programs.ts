// Locates the programs of a lab: its own, those that it runs, and those that are called in it.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { writeWhole } from "../base/files.ts";
import { entryFolder, programPath } from "../toolchain/entry.ts";
import { charts, labClients } from "../toolchain/labTools.ts";
import type { Program } from "../toolchain/tool.ts";
import { labPrograms } from "../toolchain/tools.ts";

/** The path of each program, by its name. */
export function programPaths(): Record<string, string> {
  return Object.fromEntries(
    labPrograms.flatMap((tool) => tool.commands.map((command) => [command, programPath(tool, command)])),
  );
}

/** The definitions of Cilium's kinds, some of which the lab's Cilium installs. */
export function ciliumDefinitions(): string {
  return join(entryFolder(charts), "cilium-crds");
}

/** Records for the lab which programs are built. */
export async function writeProgramPaths(file: string): Promise<void> {
  const built = Object.entries(programPaths()).filter(([, path]) => existsSync(path));
  await writeWhole(file, `${JSON.stringify(Object.fromEntries(built), null, 2)}\n`);
}

/** The clients that a call in a lab mentions; all of them for a shell. */
export function clientsIn(command: string, args: readonly string[]): readonly Program[] {
  // As a word of its own: flux-system and charts/flux are none of its client's.
  const mentions = (name: string) => args.some((arg) => new RegExp(`(?<![\\w/-])${name}(?![\\w-])`).test(arg));
  return labClients.filter(({ commands }) => command === "shell" || commands.some(mentions));
}

/** PATH for calls in a lab: it finds clients that were built after the lab was started, too. */
export function pathWithClients(path = ""): string {
  const folders = labClients.map(entryFolder).filter((folder) => existsSync(folder));
  return [...folders, path].join(delimiter);
}
