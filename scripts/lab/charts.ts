// The charts of environments on a lab, which reaches no repository: those that modules carry, and those of lab/charts.
import { createHash } from "node:crypto";
import { cp, glob, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ensureTools } from "../toolchain/ensure.ts";
import { entryFolder } from "../toolchain/entry.ts";
import { charts } from "../toolchain/labTools.ts";
import { Failure } from "../workspace/fail.ts";
import { root } from "../workspace/paths.ts";
import { labCharts } from "./folder.ts";

/** What is taken from the files that modules carry, and where it goes. */
const carried = {
  cilium: "cilium",
  "sealed-secrets": "sealed-secrets",
  "proxmox-csi-plugin": "proxmox-csi-plugin",
  flux: "flux2/manifests",
} as const;

const own = join(root, "lab", "charts");

/** Puts them where `charts.path` says, unless they are there already. */
export async function stageCharts(): Promise<void> {
  await ensureTools([charts]);
  const place = join(root, labCharts);
  const folder = `${basename(place)}-${await contentKey()}`;
  const staged = join(dirname(place), folder);
  if ((await readlink(place).catch(() => undefined)) === folder && (await isThere(staged))) return;

  const temporary = `${staged}.${process.pid}`;
  await rm(temporary, { recursive: true, force: true });
  for (const name of await ownCharts()) await cp(join(own, name), join(temporary, name), { recursive: true });
  for (const [from, to] of Object.entries(carried)) {
    await cp(join(entryFolder(charts), from), join(temporary, to), { recursive: true });
  }
  await mkdir(dirname(place), { recursive: true });
  // Where another run was quicker, it has put the same there.
  await rename(temporary, staged).catch(() => rm(temporary, { recursive: true }));
  await pointTo(place, folder);
  await removeOthers(dirname(place), folder);
}

/** In one step: an engine may be reading. */
async function pointTo(place: string, folder: string): Promise<void> {
  const link = `${place}.${process.pid}`;
  await rm(link, { force: true });
  await symlink(folder, link);
  await rename(link, place).catch(async () => {
    await rm(link);
    throw new Failure(`${place} is in the way of the lab's charts, and was not put there by this program: remove it`);
  });
}

async function removeOthers(folder: string, kept: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const isOurs = /^charts-[0-9a-f]{16}$/.test(name);
    if (isOurs && name !== kept) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function contentKey(): Promise<string> {
  const hash = createHash("sha256")
    .update(basename(entryFolder(charts)))
    .update(JSON.stringify(carried));
  const entries = await Array.fromAsync(glob("*/**", { cwd: own, withFileTypes: true }));
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`\0${file.slice(own.length)}\0`).update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}

async function ownCharts(): Promise<string[]> {
  const entries = await readdir(own, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
