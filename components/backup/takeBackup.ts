// Takes a backup: an etcd snapshot from the first control plane that gives a good one, stored completely or not at all.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../errors/sluiceError.ts";
import { type BackupManifest, backupName, snapshotFile } from "./manifest.ts";
import { expired } from "./retention.ts";
import type { SnapshotSource } from "./snapshotSources.ts";
import type { BackupTarget } from "./target.ts";
import { type BackupContent, writeBackup } from "./writeBackup.ts";

export interface BackupPlan extends Pick<BackupContent, "cluster" | "secrets" | "recipients" | "reason"> {
  /** Tried one after the other. */
  readonly sources: readonly SnapshotSource[];
  readonly target: BackupTarget;
  /** How many complete backups the target keeps. */
  readonly keep: number;
  /** A folder for the encrypted files until they are stored; this creates and removes one in it. */
  readonly temporary: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly report: (text: string) => void;
}

export interface TakenBackup {
  readonly name: string;
  readonly manifest: BackupManifest;
  /** The names of the backups that were deleted because there are newer ones. */
  readonly removed: readonly string[];
  /** Why old ones could not be deleted. */
  readonly problem?: string;
}

export async function takeBackup(plan: BackupPlan): Promise<TakenBackup> {
  const { target, temporary, now, report } = plan;
  const takenAt = new Date(now()).toISOString();
  const name = backupName(takenAt);
  const folder = join(temporary, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const manifest = await written(plan, folder, takenAt);
    report(`stores the backup ${name} in ${target.title}`);
    await target.store(name, folder, manifest.files);
    return { name, manifest, ...(await pruned(plan)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function written(plan: BackupPlan, folder: string, takenAt: string): Promise<BackupManifest> {
  const { sources, report, ...content } = plan;
  let failed: unknown = new SluiceError({ code: "SLU-B105", seen: "there is no control plane" });
  for (const { node, chunks } of sources) {
    const onProgress = (bytes: number) => report(`takes an etcd snapshot of ${node}: ${inMegabytes(bytes)}`);
    try {
      return await writeBackup(folder, { ...content, takenAt, snapshot: { node, chunks: chunks() }, onProgress });
    } catch (error) {
      failed = error;
      if (!isOfSource(error)) throw error;
      report(`${node}: ${error.seen}`);
      await rm(join(folder, snapshotFile), { force: true });
    }
  }
  throw failed;
}

/** Another control plane may give a better one. */
function isOfSource(error: unknown): error is SluiceError {
  return error instanceof SluiceError && (error.code === "SLU-B101" || error.code === "SLU-B105");
}

/** The new backup exists, whatever becomes of the old ones. */
async function pruned({ target, keep, now }: BackupPlan): Promise<Pick<TakenBackup, "removed" | "problem">> {
  const removed: string[] = [];
  try {
    for (const name of expired(await target.list(), keep, now())) {
      await target.remove(name);
      removed.push(name);
    }
    return { removed };
  } catch (error) {
    return { removed, problem: error instanceof SluiceError ? error.seen : String(error) };
  }
}

/** "12.3 MB" */
export function inMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
