// Only one run at a time builds in the cache, even among several checkouts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../base/fail.ts";

/** Milliseconds between two attempts to get a lock that another run holds. */
const ordinaryPollMs = 500;

/**
 * Runs `work` while holding the lock on a file; `onWait` is called once if another run holds it, with that run's process number.
 *
 * Node cannot lock files, so flock(1) does, until its input is closed: when the work is done, or when this process has ended for any reason. A lock is never
 * left behind, and it works between containers that share the cache.
 */
export async function withLock<T>(
  file: string,
  onWait: (holder: string) => void,
  work: () => Promise<T>,
  pollMs = ordinaryPollMs,
): Promise<T> {
  let holder = await takeLock(file);
  if (holder === undefined) onWait((await readFile(file, "utf8")).trim());
  while (holder === undefined) {
    await sleep(pollMs);
    holder = await takeLock(file);
  }
  try {
    await writeFile(file, `${process.pid}\n`);
    return await work();
  } finally {
    const ended = once(holder, "close");
    holder.stdin?.end();
    await ended;
  }
}

/** The process that now holds the lock; undefined if another run holds it. */
async function takeLock(file: string): Promise<ChildProcess | undefined> {
  const holder = spawn("flock", ["-n", "-x", file, "sh", "-c", "echo held; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
    // In its own process group: Ctrl-C in the terminal must not release the lock before this run has ended.
    detached: true,
  });
  holder.stdin.on("error", () => undefined);
  const ended = once(holder, "close").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new Failure("flock is not on PATH: install util-linux.");
    throw error;
  });
  const isHeld = await Promise.race([once(holder.stdout, "data").then(() => true), ended.then(() => false)]);
  return isHeld ? holder : undefined;
}
