// Which checkouts use which entries of the cache, so that pruning in one does not take the tools of another.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, root } from "../workspace/paths.ts";
import { cliFolder, entryFolder } from "./entry.ts";
import { tools } from "./tools.ts";

const folder = join(cacheFolder, "users");

interface User {
  readonly checkout: string;
  readonly entries: readonly string[];
}

/** Notes what this checkout uses. */
export async function registerCheckout(): Promise<void> {
  const user: User = { checkout: root, entries: [cliFolder(), ...tools.map(entryFolder)] };
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, `${createHash("sha256").update(root).digest("hex").slice(0, 16)}.json`),
    JSON.stringify(user),
  );
}

/** The entries that checkouts which still exist use. */
export async function usedEntries(): Promise<Set<string>> {
  const used = new Set<string>();
  for (const name of await readdir(folder).catch(() => [])) {
    const user: User = JSON.parse(await readFile(join(folder, name), "utf8"));
    if (existsSync(join(user.checkout, "toolchain"))) for (const entry of user.entries) used.add(entry);
    else await rm(join(folder, name), { force: true });
  }
  return used;
}
