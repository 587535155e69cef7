// Provides the charts for environments on a lab, which reaches no repository: those in Go modules, and those in lab/charts.
import { createHash, randomUUID } from "node:crypto";
import { cp, glob, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { entryFolder } from "../toolchain/entry.ts";
import { charts } from "../toolchain/labTools.ts";
import { labCharts } from "./labFolders.ts";

/** The files of modules to copy, and their destinations. */
const carried = {
  cilium: "cilium",
  "sealed-secrets": "sealed-secrets",
  "proxmox-csi-plugin": "proxmox-csi-plugin",
  flux: "flux2/manifests",
} as const;

const own = join(root, "lab", "charts");

/** Copies them to the folder of `charts.path`, unless they are there already. */
export async function stageCharts(): Promise<void> {
  await ensureTools([charts]);
  const place = join(root, labCharts);
  const folder = `${basename(place)}-${await contentKey()}`;
  const staged = join(dirname(place), folder);
  if ((await readlink(place).catch(() => undefined)) === folder && (await isThere(staged))) return;

  const temporary = `${staged}.${randomUUID()}`;
  for (const name of await ownCharts()) await cp(join(own, name), join(temporary, name), { recursive: true });
  for (const [from, to] of Object.entries(carried)) {
    await cp(join(entryFolder(charts), from), join(temporary, to), { recursive: true });
  }
  await mkdir(dirname(place), { recursive: true });
  // If another run was faster, it has copied the same files.
  await rename(temporary, staged).catch(() => rm(temporary, { recursive: true }));
  await pointTo(place, folder);
  await removeOthers(dirname(place), folder);
}

/** In one step, because an engine may be reading it. */
async function pointTo(place: string, folder: string): Promise<void> {
  const link = `${place}.${randomUUID()}`;
  await symlink(folder, link);
  await rename(link, place).catch(async () => {
    await rm(link);
    throw new Failure(`${place} is in the way of the lab's charts, and Sluice did not create it: remove it`);
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
