import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file whole or not at all, for its owner's eyes where `mode` says so. */
export async function writeWhole(file: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, text, { mode });
  await chmod(temporary, mode); // also where one was left by a run that was cut off
  await rename(temporary, file);
}
