// What `npm run toolchain -- --prune` does.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import { go } from "./go.ts";
import { removeStage } from "./stage.ts";
import { registerCheckout, usedEntries } from "./users.ts";

/** Removes entries that no checkout uses and all that only building needs; says what came of it. */
export async function prune(): Promise<string> {
  const before = await kilobytes();
  await registerCheckout();
  const used = await usedEntries();
  const removed: string[] = [];
  const kinds = (await readdir(join(cacheFolder, "tools")).catch(() => [])).map((tool) => join("tools", tool));
  for (const kind of ["cli", ...kinds]) {
    for (const key of await readdir(join(cacheFolder, kind)).catch(() => [])) {
      const folder = join(cacheFolder, kind, key);
      if (used.has(folder)) continue;
      await rm(folder, { recursive: true, force: true });
      removed.push(join(kind, key));
    }
  }
  // The module cache is read-only: go alone removes it.
  await go({ cwd: cacheFolder, args: ["clean", "-modcache", "-cache"] });
  await rm(join(cacheFolder, "go"), { recursive: true, force: true });
  await rm(join(cacheFolder, "logs"), { recursive: true, force: true });
  await removeStage(join(cacheFolder, "build"));
  const freed = before - (await kilobytes());
  return [
    removed.length === 0 ? "No unused tools." : `Removed ${removed.join(", ")}.`,
    `Freed ${(freed / 2 ** 20).toFixed(1)} GiB; ${((await kilobytes()) / 2 ** 20).toFixed(1)} GiB of programs stay in ${cacheFolder}.`,
  ].join("\n");
}

async function kilobytes(): Promise<number> {
  const { stdout } = await run("du", ["-sk", cacheFolder]);
  return Number.parseInt(stdout, 10) || 0;
}
