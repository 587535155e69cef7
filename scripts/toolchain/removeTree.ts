import { existsSync } from "node:fs";
import { Failure } from "../workspace/fail.ts";
import { run } from "../workspace/run.ts";

/**
 * Removes a folder with all that is in it, also what Go's module cache, which is read-only, and copies out of it hold.
 * By the system's programs: they take seconds for the half million files of that cache.
 */
export async function removeTree(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  await run("chmod", ["-R", "u+w", folder]);
  const removed = await run("rm", ["-rf", folder]);
  if (removed.code !== 0) throw new Failure(`cannot remove ${folder}: ${removed.stderr.trim()}`);
}
