// What `npm run toolchain -- --prune` does.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../base/paths.ts";
import { withBuildLock } from "./buildLock.ts";
import { buildFolder } from "./go.ts";
import { removeTree } from "./removeTree.ts";
import { kibibytesIn } from "./space.ts";
import type { Tool } from "./tool.ts";
import { registerCheckout, usedEntries } from "./users.ts";

/** Removes entries that no checkout uses, and everything that is only needed for building; returns a report. */
export function prune(): Promise<string> {
  // Not while another run builds.
  return withBuildLock(removeUnused);
}

async function removeUnused(): Promise<string> {
  const before = await kibibytesIn(cacheFolder);
  await registerCheckout();
  const kinds = (await readdir(join(cacheFolder, "tools")).catch(() => [])).map((tool) => join("tools", tool));
  const removed = await removeEntries(["cli", ...kinds]);
  for (const folder of [join(cacheFolder, "go"), join(cacheFolder, "logs"), buildFolder]) await removeTree(folder);
  const after = await kibibytesIn(cacheFolder);
  return [
    removed.length === 0 ? "No unused tools." : `Removed ${removed.join(", ")}.`,
    `Freed ${gibibytes(before - after)} GiB; ${gibibytes(after)} GiB of programs stay in ${cacheFolder}.`,
  ].join("\n");
}

/**
 * What is built from our own sources is rebuilt after each edit, so a day's work on them would leave gigabytes without this. Called by the holder of the
 * build lock.
 */
export async function removeOlder(tool: Tool): Promise<void> {
  if (tool.folder === undefined) return;
  await registerCheckout();
  await removeEntries([join("tools", tool.name)]);
}

/** Removes the entries of these cache folders that no checkout uses, and returns which. */
async function removeEntries(kinds: readonly string[]): Promise<string[]> {
  const used = await usedEntries();
  const removed: string[] = [];
  for (const kind of kinds) {
    for (const key of await readdir(join(cacheFolder, kind)).catch(() => [])) {
      const folder = join(cacheFolder, kind, key);
      if (used.has(folder)) continue;
      await removeTree(folder);
      removed.push(join(kind, key));
    }
  }
  return removed;
}

function gibibytes(kibibytes: number): string {
  return (kibibytes / 2 ** 20).toFixed(1);
}
