// Which checkouts use which entries of the cache, so that pruning in one checkout does not remove the tools of another.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, root } from "../base/paths.ts";
import { cliFolder, entryFolder } from "./entry.ts";
import { tools } from "./tools.ts";

const folder = join(cacheFolder, "users");

interface User {
  readonly checkout: string;
  readonly entries: readonly string[];
}

/** Records what this checkout uses. */
export async function registerCheckout(): Promise<void> {
  const user: User = { checkout: root, entries: [cliFolder(), ...tools.map(entryFolder)] };
  const file = join(folder, `${createHash("sha256").update(root).digest("hex").slice(0, 16)}.json`);
  const text = JSON.stringify(user);
  if ((await readFile(file, "utf8").catch(() => "")) === text) return;
  await mkdir(folder, { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, text);
  await rename(temporary, file);
}

/** The entries that existing checkouts use. Records of other checkouts, and unreadable records, are removed. */
export async function usedEntries(): Promise<Set<string>> {
  const used = new Set<string>();
  for (const name of await readdir(folder).catch(() => [])) {
    const user = await readUser(join(folder, name));
    if (user !== undefined && existsSync(join(user.checkout, "toolchain"))) {
      for (const entry of user.entries) used.add(entry);
    } else {
      await rm(join(folder, name), { force: true });
    }
  }
  return used;
}

async function readUser(file: string): Promise<User | undefined> {
  try {
    const user: Partial<User> | null = JSON.parse(await readFile(file, "utf8"));
    const { checkout, entries } = user ?? {};
    return typeof checkout === "string" && Array.isArray(entries) ? { checkout, entries } : undefined;
  } catch {
    return undefined;
  }
}
