// Which backups are deleted.
import { isBackupName, timeOf } from "./manifest.ts";

/** What a target has under one name. */
export interface Listed {
  readonly name: string;
  /** It has its manifest, which is written last. */
  readonly isComplete: boolean;
}

/** Hours after which a backup without a manifest is no longer being written. */
const unfinishedHours = 24;

/**
 * The names to delete, oldest first: complete backups beyond the newest `keep`, and what an interrupted backup left behind. Anything with another name is not
 * ours. The newest complete one is never deleted.
 */
export function expired(listed: readonly Listed[], keep: number, nowMs: number): readonly string[] {
  const own = listed.filter(({ name }) => isBackupName(name)).toSorted((a, b) => a.name.localeCompare(b.name));
  const complete = own.filter(({ isComplete }) => isComplete).map(({ name }) => name);
  const kept = new Set(complete.slice(-Math.max(1, keep)));
  return own
    .filter(({ name }) => !kept.has(name))
    .filter(({ name, isComplete }) => isComplete || nowMs - timeOf(name) > unfinishedHours * 3_600_000)
    .map(({ name }) => name);
}
