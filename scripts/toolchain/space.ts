// A disk that fills up during a build fails in ways that are hard to understand, so its space is checked first.
import { existsSync } from "node:fs";
import { mkdir, readdir, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../base/fail.ts";
import { cacheFolder } from "../base/paths.ts";
import { run } from "../base/run.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools.ts";

/** A file that names the tools whose packages are in go's caches. It is inside these caches, so that it is removed with them. */
const compiledFolder = join(cacheFolder, "go", "compiled");

/** GiB that a build takes when go's caches contain all its packages: the program, twice while it is linked. */
const least = 1;

/** Records that go's caches contain all packages of the tool. */
export async function noteCompiled(tool: Tool): Promise<void> {
  await mkdir(compiledFolder, { recursive: true });
  await writeFile(join(compiledFolder, tool.name), "");
}

/** Refuses to build if the disk is too small. */
export async function checkSpace(missing: readonly Tool[], free: () => Promise<number> = freeGibibytes): Promise<void> {
  const there = await free();
  if (there >= spaceNeeded(missing, [], 0)) return;
  // Little space is left, but a part of the needed space may be in use already: by this build, when it was interrupted, or an earlier one.
  const compiled = new Set(await readdir(compiledFolder).catch(() => []));
  const before = tools.filter((tool) => compiled.has(tool.name));
  const needed = spaceNeeded(missing, before, (await kibibytesIn(join(cacheFolder, "go"))) / 2 ** 20);
  if (there >= needed) return;
  throw new Failure(
    `building ${missing.map((tool) => tool.name).join(", ")} takes up to ${Math.ceil(needed)} GiB below ${cacheFolder}, ` +
      `but ${there.toFixed(1)} GiB are free there. Make room, or set SLUICE_CACHE to a folder on a larger disk. ` +
      "Afterwards `npm run toolchain -- --prune` leaves the programs only.",
  );
}

/** GiB by which go's caches will grow: what the built and the missing tools take, minus what the caches contain. */
export function spaceNeeded(missing: readonly Tool[], builtBefore: readonly Tool[], held: number): number {
  const all = new Set([...missing, ...builtBefore]);
  return Math.max(least, [...all].reduce((sum, tool) => sum + tool.gigabytes, 0) - held);
}

/** The folder, or the nearest above it that exists. */
function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}

/** What a folder takes on the disk. */
export async function kibibytesIn(folder: string): Promise<number> {
  const { stdout } = await run("du", ["-sk", folder]);
  return Number.parseInt(stdout, 10) || 0;
}

export async function freeGibibytes(): Promise<number> {
  const { bavail, bsize } = await statfs(existing(cacheFolder));
  return (bavail * bsize) / 2 ** 30;
}
