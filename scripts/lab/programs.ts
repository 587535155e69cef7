// The programs of a lab: its own, and those that it runs.
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { programPath } from "../toolchain/entry.ts";
import { labTools } from "../toolchain/labTools.ts";
import type { Program } from "../toolchain/tool.ts";
import { toolNamed } from "../toolchain/tools.ts";

/** All that a lab needs. Of the validators it asks the one of Talos 1.12; that of 1.13 is in its own program. */
export const labPrograms: readonly Program[] = [...labTools, toolNamed("configcheck-1.12")];

/** Where each program is, by the name that it is started by. */
export function programPaths(): Record<string, string> {
  return Object.fromEntries(
    labPrograms.flatMap((tool) => tool.commands.map((command) => [command, programPath(tool, command)])),
  );
}

/** Writes them down for the lab. */
export async function writeProgramPaths(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(programPaths(), null, 2)}\n`);
  await rename(temporary, file);
}
