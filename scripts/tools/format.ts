// `npm run format`: fixes what biome and gofmt can fix automatically.

import { onlyHelp } from "../base/commandLine.ts";
import { main } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { runAttached } from "../base/run.ts";
import { goFiles } from "./check/goFiles.ts";

await main(async () => {
  const usage = "npm run format\n\nFixes what biome and gofmt can fix automatically, and prints the rest.";
  if (onlyHelp(usage)) return 0;
  const biome = await runAttached("biome", ["check", "--write", "."], { cwd: root });
  const gofmt = await runAttached("gofmt", ["-w", ...(await goFiles())], { cwd: root });
  return biome || gofmt;
});
