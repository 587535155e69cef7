// A disk that fills up in the middle of a build fails in ways that nobody understands, so its space is checked first.
import { mkdir, readdir, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools.ts";

/** Names the tools that go's caches hold the parts of. It lies among them, so that it goes when they go. */
const compiledFolder = join(cacheFolder, "go", "compiled");

/** GiB that a build takes when go's caches hold all its parts: the program, twice while it is linked. */
const least = 1;

/** Notes that go's caches hold all that the tool is made of. */
export async function noteCompiled(tool: Tool): Promise<void> {
  await mkdir(compiledFolder, { recursive: true });
  await writeFile(join(compiledFolder, tool.name), "");
}

/** Refuses to build where the disk is too small for it. */
export async function checkSpace(missing: readonly Tool[], free: () => Promise<number> = freeGibibytes): Promise<void> {
  const there = await free();
  if (there >= spaceNeeded(missing, [], 0)) return;
  // Little is left, but a part may have been used for this very build: by one that was interrupted, or one before.
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

/** GiB by which go's caches will grow: to what the tools built before and the missing ones take, from what they hold. */
export function spaceNeeded(missing: readonly Tool[], builtBefore: readonly Tool[], held: number): number {
  const all = new Set([...missing, ...builtBefore]);
  return Math.max(least, [...all].reduce((sum, tool) => sum + tool.gigabytes, 0) - held);
}

/** What a folder takes on the disk. */
export async function kibibytesIn(folder: string): Promise<number> {
  const { stdout } = await run("du", ["-sk", folder]);
  return Number.parseInt(stdout, 10) || 0;
}

async function freeGibibytes(): Promise<number> {
  const { bavail, bsize } = await statfs(cacheFolder);
  return (bavail * bsize) / 2 ** 30;
}
