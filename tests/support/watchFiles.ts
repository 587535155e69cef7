// What files contain while a run writes and removes them.
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Secrets } from "./leaks.ts";

/** How often changed files are read, in milliseconds. */
const intervalMs = 100;

/** Reads every file below the folders whenever it has changed, until it is stopped; returns those that contained a secret, each with the secrets' names. */
export function watchFiles(
  folders: readonly string[],
  secrets: Secrets,
): { stop(): Readonly<Record<string, readonly string[]>> } {
  const known = new Map<string, string>();
  const found = new Map<string, Set<string>>();
  const check = (path: string) => {
    const { size, mtimeNs, ino } = statSync(path, { bigint: true });
    const version = `${ino} ${size} ${mtimeNs}`;
    if (known.get(path) === version) return;
    known.set(path, version);
    for (const name of secrets.foundIn(readFileSync(path, "latin1"))) {
      found.set(path, (found.get(path) ?? new Set()).add(name));
    }
  };
  const look = () => {
    for (const path of folders.flatMap(filesBelow)) orGone(() => check(path));
  };
  const timer = setInterval(look, intervalMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return Object.fromEntries([...found].map(([path, names]) => [path, [...names]]));
    },
  };
}

/** Programs and packages are linked; what a link leads to was not written by the run. */
function filesBelow(folder: string): readonly string[] {
  const entries = orGone(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  const path = ({ name }: Dirent) => join(folder, name);
  const folders = entries.filter((entry) => entry.isDirectory());
  return [...entries.filter((entry) => entry.isFile()).map(path), ...folders.map(path).flatMap(filesBelow)];
}

/** A file may be removed at any moment. */
function orGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
