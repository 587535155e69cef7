// Provides tools: takes them from the cache, or builds what is missing or damaged.

import { duration } from "../base/duration.ts";
import { needAll } from "../base/fail.ts";
import { cacheFolder } from "../base/paths.ts";
import { reporting } from "../base/reporting.ts";
import { withBuildLock } from "./buildLock.ts";
import { construct, type Undecided } from "./construction.ts";
import { entryFolder, inspectEntry } from "./entry.ts";
import { buildFolder, goVersion } from "./go.ts";
import { standardError } from "./progress.ts";
import { removeTree } from "./removeTree.ts";
import { checkSpace } from "./space.ts";
import type { Tool } from "./tool.ts";
import { tools } from "./tools.ts";
import { registerCheckout } from "./users.ts";

/** Builds those of the tools that are not in the cache. Prints nothing if all are. */
export async function ensureTools(wanted: readonly Tool[], undecided?: Undecided): Promise<void> {
  if (wanted.length === 0) return;
  // A read-only cache is sufficient as long as nothing is missing in it.
  await registerCheckout().catch(() => undefined);
  const onDamage = (tool: Tool, what: string) =>
    standardError.write(`sluice: ${tool.name} in the cache is damaged (${what}); rebuilding it\n`);
  const absent = await reporting("checking the tools in the cache", () => missingTools(wanted, onDamage));
  if (absent.length === 0) return;
  await withBuildLock(async () => {
    // Another run may have built them meanwhile.
    const missing = await missingTools(wanted, () => undefined);
    if (missing.length > 0) await buildTools(missing, undecided);
  });
}

/** Refuses, before anything is built, a machine on which those that are missing cannot be built. */
export async function needBuild(wanted: readonly Tool[]): Promise<void> {
  const missing = await missingTools(wanted, () => undefined);
  if (missing.length > 0) await needAll([goVersion(), checkSpace(missing)]);
}

/** Whether all of them are in the cache and intact. */
export async function areBuilt(wanted: readonly Tool[]): Promise<boolean> {
  return (await missingTools(wanted, () => undefined)).length === 0;
}

async function buildTools(missing: readonly Tool[], undecided: Undecided | undefined): Promise<void> {
  await needAll([goVersion(), checkSpace(missing)]);
  const removeLeft = () => reporting("removing what builds leave", () => removeTree(buildFolder));
  await removeLeft();
  const seconds = missing.reduce((sum, tool) => sum + tool.seconds, 0);
  const perhaps = missing.filter((tool) => undecided?.tools.includes(tool)).map(({ name }) => name);
  const condition = perhaps.length === 0 ? "" : ` ${perhaps.join(", ")} only if plugins cannot be downloaded.`;
  standardError.write(
    `sluice: building ${missing.map((tool) => tool.name).join(", ")} from Go modules, once, into ${cacheFolder}: ` +
      `${duration(seconds)} on two idle cores with empty caches, less with full ones.${condition} Ctrl-C is safe: the next run resumes.\n`,
  );
  await construct(missing, standardError, undecided);
  await removeLeft();
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
