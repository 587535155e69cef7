// The locks of stacks in files, which an engine that is killed leaves behind.
import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { RunningProcess } from "../base/processList.ts";

/** The name of the engine's program. */
export const engineName = "pulumi";

/** The environment variable by which processes of a stack's engine are recognized when the engine was killed. */
export const markVariable = "SLUICE_STACK";

/** A hash, because a backend's URL may hold credentials. */
export function markOf(backend: string | undefined, name: string): string {
  return createHash("sha256").update(`${backend} ${name}`).digest("hex").slice(0, 16);
}

/** Of the engine that holds it. */
export interface LockContent {
  readonly pid: number;
  readonly username: string;
  readonly hostname: string;
  readonly timestamp: string;
}

export interface Lock {
  readonly file: string;
  /** Undefined of one that was cut off while it was written. */
  readonly content: LockContent | undefined;
}

/** Those of a stack in the folder of a backend. */
export async function readLocks(folder: string, name: string): Promise<readonly Lock[]> {
  const locks = join(folder, ".pulumi", "locks", "organization", "sluice", name);
  const files = (await readdir(locks).catch(() => [])).filter((file) => file.endsWith(".json"));
  return Promise.all(
    files.map((file) => join(locks, file)).map(async (file) => ({ file, content: await readLock(file) })),
  );
}

/**
 * Whether the engine that took a lock is known to have ended: it was on this host, in this or another pid namespace, of which each has the same numbers. The
 * processes are given with their marks: one with that of another stack is not the one.
 */
export function isStale(
  { content }: Lock,
  mark: string,
  processes: readonly Pick<RunningProcess, "name" | "innerPid" | "value">[],
  host = hostname(),
): boolean {
  if (content === undefined) return true;
  const isHolder = ({ name, innerPid, value }: (typeof processes)[number]) =>
    name === engineName && innerPid === content.pid && (value === undefined || value === mark);
  return content.hostname === host && !processes.some(isHolder);
}

export async function removeLock({ file }: Lock): Promise<void> {
  await rm(file, { force: true });
}

async function readLock(file: string): Promise<LockContent | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
