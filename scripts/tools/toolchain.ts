import { readOptions } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { cacheFolder } from "../base/paths.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { listTools } from "../toolchain/list.ts";
import { prune } from "../toolchain/prune.ts";
import { startTools } from "../toolchain/toolchain.ts";
import { tools } from "../toolchain/tools.ts";

const help = `npm run toolchain -- [options] [tool ...]

Builds tools from their Go modules into ${cacheFolder}: the named ones, or all that 'npm start' needs,
which is the Pulumi CLI, its plugins and what the lab runs.

  --list    show each tool: its version, where it came from, its size
  --prune   remove what no checkout uses, and the caches that are only needed to build
  --help    this text

SLUICE_CACHE names another folder for the cache.
Tools: ${tools.map((tool) => tool.name).join(", ")}.`;

await main(async () => {
  const options = { list: { type: "boolean" }, prune: { type: "boolean" } } as const;
  const call = readOptions(help, options, { allowPositionals: true });
  if (call === undefined) return 0;
  const { values, positionals } = call;
  if (values.list) {
    console.log(await listTools());
  } else if (values.prune) {
    console.log(await prune());
  } else {
    const unknown = positionals.filter((name) => !tools.some((tool) => tool.name === name));
    if (unknown.length > 0) throw new Failure(`unknown tool ${unknown.join(", ")}. See --help.`);
    await ensureTools(positionals.length === 0 ? startTools() : tools.filter(({ name }) => positionals.includes(name)));
    console.log("sluice: the tools are ready; --list shows them");
  }
  return 0;
});
