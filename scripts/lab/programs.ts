// The programs of a lab: its own, and those that it runs.
import { join } from "node:path";
import { entryFolder, programPath } from "../toolchain/entry.ts";
import { charts, labTools } from "../toolchain/labTools.ts";
import type { Program } from "../toolchain/tool.ts";
import { toolNamed } from "../toolchain/tools.ts";
import { writeWhole } from "../workspace/files.ts";

/** All that a lab needs. Of the validators it asks the one of Talos 1.12; that of 1.13 is in its own program. */
export const labPrograms: readonly Program[] = [...labTools, toolNamed("configcheck-1.12")];

/** Where each program is, by the name that it is started by. */
export function programPaths(): Record<string, string> {
  return Object.fromEntries(
    labPrograms.flatMap((tool) => tool.commands.map((command) => [command, programPath(tool, command)])),
  );
}

/** The definitions of Cilium's kinds, of which the lab's Cilium makes some known. */
export function ciliumDefinitions(): string {
  return join(entryFolder(charts), "cilium-crds");
}

/** Writes them down for the lab. */
export async function writeProgramPaths(file: string): Promise<void> {
  await writeWhole(file, `${JSON.stringify(programPaths(), null, 2)}\n`);
}
