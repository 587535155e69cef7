import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { withLock } from "./lock.ts";
import { standardError } from "./progress.ts";

/** Runs `work` while no other run, of any checkout, builds in the cache or prunes it. */
export async function withBuildLock<T>(work: () => Promise<T>): Promise<T> {
  const folder = join(cacheFolder, "lock");
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new Failure(
      `cannot write to ${cacheFolder}: ${(error as Error).message}. SLUICE_CACHE names another folder for the cache.`,
    );
  }
  const onWait = (holder: string) =>
    standardError.write(`sluice: another run is at work in ${cacheFolder} (process ${holder}); waiting for it\n`);
  return withLock(folder, onWait, work);
}
