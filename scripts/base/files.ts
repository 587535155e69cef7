import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Writes a file completely or not at all, with the permissions `mode`. */
export async function writeWhole(file: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  try {
    await writeFile(temporary, text, { mode });
    await chmod(temporary, mode); // even if an interrupted run left one
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A file that the user named. npm runs scripts in the checkout; INIT_CWD is where it was called. */
export function namedFile(name: string): string {
  return resolve(process.env.INIT_CWD ?? ".", name);
}
