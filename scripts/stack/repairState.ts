// A state in files that a power failure or a kill has cut off: it is still there, and must not count as absent. docs/decisions/orphans.md
import { existsSync } from "node:fs";
import { copyFile, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/fail.ts";
import { runningProcesses } from "../base/processList.ts";
import { isStale, markOf, markVariable, readLocks } from "./locks.ts";

/**
 * A parameter of the backend's URL. Without it the CLI writes a second file next to each file, which contains nothing that is needed, and reads neither if one
 * of them is missing.
 */
export const withoutSidecars = "metadata=skip";

/**
 * Makes all stacks of a folder readable again, with a line for each that was not. While an engine works on a stack, its state is in pieces for moments: it is
 * left alone then.
 */
export async function repairState(folder: string, backend: string): Promise<void> {
  const state = join(folder, ".pulumi");
  const stacks = join(state, "stacks", "sluice");
  for (const directory of [state, stacks]) await removeSidecars(directory);
  const names = await stacksIn(folder);
  for (const name of names) {
    const isDamaged = !(await isWhole(join(stacks, `${name}.json`)));
    if (isDamaged && !(await isLocked({ folder, backend }, name))) await restore(state, name);
  }
  // The CLI moves a state aside before it writes the next one: killed in between, it leaves its lock and no state.
  const aside = (await filesIn(stacks)).flatMap((file) => /^(.+)\.json\.bak$/.exec(file)?.[1] ?? []);
  for (const name of aside.filter((one) => !names.includes(one))) {
    const hasLock = (await readLocks(folder, name)).length > 0;
    if (hasLock && !(await isLocked({ folder, backend }, name))) await restore(state, name);
  }
}

/** Whether an engine works on a stack, or may do so on another host. `backend` is the URL of the folder's. */
export async function isLocked(
  { folder, backend }: { readonly folder: string; readonly backend: string },
  name: string,
): Promise<boolean> {
  const locks = await readLocks(folder, name);
  if (locks.length === 0) return false;
  const processes = runningProcesses(markVariable);
  return locks.some((lock) => !isStale(lock, markOf(backend, name), processes));
}

/** The names of the stacks that have a state in a folder. */
export async function stacksIn(folder: string): Promise<readonly string[]> {
  const files = await filesIn(join(folder, ".pulumi", "stacks", "sluice"));
  return files.flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
}

/** Earlier versions let the CLI write these. */
async function removeSidecars(directory: string): Promise<void> {
  for (const file of await filesIn(directory)) {
    if (file.endsWith(".attrs")) await rm(join(directory, file), { force: true });
  }
}

/** Restores the state before the last change, or else the one after the last run. The next run finds what is missing: those resources are in no state. */
async function restore(state: string, name: string): Promise<void> {
  const file = join(state, "stacks", "sluice", `${name}.json`);
  const backups = join(state, "backups", "sluice", name);
  const earlier = (await filesIn(backups)).filter((backup) => backup.endsWith(".json")).toSorted();
  const candidates = [`${file}.bak`, ...earlier.toReversed().map((backup) => join(backups, backup))];
  for (const candidate of candidates) {
    if (!(await isWhole(candidate))) continue;
    if (existsSync(file)) await rename(file, `${file}.damaged`);
    await copyFile(candidate, `${file}.restored`);
    await rename(`${file}.restored`, file);
    console.error(`sluice: the state of ${name} was cut off; restored from ${candidate}`);
    return;
  }
  throw new Failure(
    `the state of ${name} is damaged, and there is no backup of it: restore ${file} from a copy of your own, or, if nothing is deployed, rm ${file}`,
  );
}

/** A checkpoint that was written completely. */
async function isWhole(file: string): Promise<boolean> {
  try {
    const { version, checkpoint } = JSON.parse(await readFile(file, "utf8"));
    return version !== undefined && checkpoint !== undefined;
  } catch {
    return false;
  }
}

async function filesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}
