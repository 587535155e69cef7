// `npm run format`: mends what of format and lint can be mended by itself.
import { goFiles } from "./check/goFiles.ts";
import { main } from "./workspace/fail.ts";
import { root } from "./workspace/paths.ts";
import { runAttached } from "./workspace/run.ts";

await main(async () => {
  const biome = await runAttached("biome", ["check", "--write", "."], { cwd: root });
  const gofmt = await runAttached("gofmt", ["-w", ...(await goFiles())], { cwd: root });
  return biome || gofmt;
});
