import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../base/fail.ts";
import { cacheFolder } from "../base/paths.ts";
import { withLock } from "./lock.ts";
import { standardError } from "./progress.ts";

/** Runs `work` while no other run, in any checkout, builds in the cache or prunes it. */
export async function withBuildLock<T>(work: () => Promise<T>): Promise<T> {
  try {
    await mkdir(cacheFolder, { recursive: true });
    await access(cacheFolder, constants.W_OK);
  } catch (error) {
    throw new Failure(
      `cannot write to ${cacheFolder}: ${(error as Error).message}. SLUICE_CACHE names another folder for the cache.`,
    );
  }
  const onWait = (holder: string) =>
    standardError.write(`sluice: another run is building in ${cacheFolder} (process ${holder}); waiting for it\n`);
  return withLock(join(cacheFolder, "build.lock"), onWait, work);
}
