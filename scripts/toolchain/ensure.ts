// Sees to it that tools are there: takes them from the cache, or builds what is missing or damaged.
import { mkdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { buildTool } from "./build.ts";
import { entryFolder, inspectEntry } from "./entry.ts";
import { toolKey, toolVersion } from "./goModule.ts";
import { withLock } from "./lock.ts";
import { duration, type Screen, startProgress } from "./progress.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools.ts";
import { registerCheckout } from "./users.ts";

const screen: Screen = {
  get terminal() {
    return process.stderr.isTTY === true;
  },
  get columns() {
    return process.stderr.columns ?? 80;
  },
  write(text) {
    process.stderr.write(text);
  },
};

/** Builds those of the tools that are not in the cache. Says nothing when all are. */
export async function ensureTools(wanted: readonly Tool[]): Promise<void> {
  const missing: Tool[] = [];
  for (const tool of tools.filter((candidate) => wanted.includes(candidate))) {
    if (!(await isGood(tool))) missing.push(tool);
  }
  if (missing.length === 0) return;
  await registerCheckout();
  await checkSpace(missing);
  const seconds = missing.reduce((sum, tool) => sum + tool.seconds, 0);
  screen.write(
    `sluice: building ${missing.map((tool) => tool.name).join(", ")} from Go modules, once, into ${cacheFolder}: ` +
      `${duration(seconds)} on two idle cores with empty caches, less with full ones. Ctrl-C is safe: the next run goes on.\n`,
  );
  for (const [index, tool] of missing.entries()) {
    const lock = join(cacheFolder, "locks", `${tool.name}-${toolKey(tool)}`);
    const onWait = () => screen.write(`sluice: another run builds ${tool.name}; waiting for it\n`);
    await withLock(lock, onWait, async () => {
      if (await isGood(tool)) return;
      const what = `building ${tool.name} ${toolVersion(tool)} (${tool.purpose})`;
      const progress = startProgress({ what, index: index + 1, of: missing.length, expected: tool.seconds }, screen);
      try {
        await buildTool(tool, progress);
        progress.finish("done");
      } catch (error) {
        progress.finish("failed");
        throw error;
      }
    });
  }
}

async function isGood(tool: Tool): Promise<boolean> {
  const found = await inspectEntry(entryFolder(tool));
  if (found.state === "damaged") {
    screen.write(`sluice: ${tool.name} in the cache is damaged (${found.what}); it is built again\n`);
    await rm(entryFolder(tool), { recursive: true, force: true });
  }
  return found.state === "good";
}

/** A disk that fills up in the middle of a build fails in ways that nobody understands. */
async function checkSpace(missing: readonly Tool[]): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const { bavail, bsize } = await statfs(cacheFolder);
  const free = (bavail * bsize) / 2 ** 30;
  const needed = missing.reduce((sum, tool) => sum + tool.gigabytes, 0);
  if (free >= needed) return;
  throw new Failure(
    `building ${missing.map((tool) => tool.name).join(", ")} takes up to ${needed} GiB below ${cacheFolder}, ` +
      `but ${free.toFixed(1)} GiB are free there. Make room, or set SLUICE_CACHE to a folder on a larger disk. ` +
      "Afterwards `npm run toolchain -- --prune` leaves the programs only.",
  );
}
