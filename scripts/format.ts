// `npm run format`: mends what of format and lint can be mended by itself.
import { goFiles } from "./check/goFiles.ts";
import { onlyHelp } from "./workspace/commandLine.ts";
import { main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";

await main(async () => {
  const usage = "npm run format\n\nRewrites what biome and gofmt can mend by themselves; the rest is told.";
  if (onlyHelp(usage)) return 0;
  const biome = await runAttached("biome", ["check", "--write", "."], { cwd: root });
  const gofmt = await runAttached("gofmt", ["-w", ...(await goFiles())], { cwd: root });
  return biome || gofmt;
});
