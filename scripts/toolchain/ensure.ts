// Sees to it that tools are there: takes them from the cache, or builds what is missing or damaged.
import { cacheFolder } from "../workspace/paths.ts";
import { buildTool } from "./build.ts";
import { withBuildLock } from "./buildLock.ts";
import { entryFolder, inspectEntry } from "./entry.ts";
import { toolVersion } from "./goModule.ts";
import { duration, standardError, startProgress } from "./progress.ts";
import { removeOlder } from "./prune.ts";
import { checkSpace } from "./space.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools.ts";
import { registerCheckout } from "./users.ts";

/** Builds those of the tools that are not in the cache. Says nothing when all are. */
export async function ensureTools(wanted: readonly Tool[]): Promise<void> {
  // A cache that cannot be written serves all the same while nothing is missing in it.
  await registerCheckout().catch(() => undefined);
  const absent = await missingTools(wanted, (tool, what) =>
    standardError.write(`sluice: ${tool.name} in the cache is damaged (${what}); it is built again\n`),
  );
  if (absent.length === 0) return;
  await withBuildLock(async () => {
    // Another run may have built them meanwhile.
    const missing = await missingTools(wanted, () => undefined);
    if (missing.length > 0) await buildTools(missing);
  });
}

/** Whether all of them are in the cache and whole. */
export async function areBuilt(wanted: readonly Tool[]): Promise<boolean> {
  return (await missingTools(wanted, () => undefined)).length === 0;
}

async function buildTools(missing: readonly Tool[]): Promise<void> {
  await checkSpace(missing);
  const seconds = missing.reduce((sum, tool) => sum + tool.seconds, 0);
  standardError.write(
    `sluice: building ${missing.map((tool) => tool.name).join(", ")} from Go modules, once, into ${cacheFolder}: ` +
      `${duration(seconds)} on two idle cores with empty caches, less with full ones. Ctrl-C is safe: the next run goes on.\n`,
  );
  for (const [index, tool] of missing.entries()) {
    const what = `building ${tool.name} ${toolVersion(tool)}`;
    const step = { what, purpose: tool.purpose, index: index + 1, of: missing.length, expected: tool.seconds };
    const progress = startProgress(step, standardError);
    try {
      await buildTool(tool, progress);
      await removeOlder(tool);
      progress.finish("done");
    } catch (error) {
      progress.finish("failed");
      throw error;
    }
  }
}

async function missingTools(
  wanted: readonly Tool[],
  onDamage: (tool: Tool, what: string) => void,
): Promise<readonly Tool[]> {
  const missing: Tool[] = [];
  for (const tool of tools.filter((candidate) => wanted.includes(candidate))) {
    const found = await inspectEntry(entryFolder(tool));
    if (found.state === "damaged") onDamage(tool, found.what);
    if (found.state !== "good") missing.push(tool);
  }
  return missing;
}
