// The check of the lab's Go code by Go's own means.
import { join } from "node:path";
import { labPrograms } from "../lab/programs.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { programPath } from "../toolchain/entry.ts";
import { type GoCall, go, goEnvironment, goFetching, goVersion } from "../toolchain/go.ts";
import { moduleFolder } from "../toolchain/goModule.ts";
import { toolNamed } from "../toolchain/tools.ts";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { runAttached } from "../workspace/run.ts";
import { type Counts, counted, sum } from "./counts.ts";
import { readGoTest } from "./goTest.ts";

const own = toolNamed("sluice-lab");
const others = labPrograms.filter((tool) => tool !== own);
const staticcheck = toolNamed("staticcheck");

export async function labCode(): Promise<Counts> {
  await goVersion();
  await ensureTools([staticcheck, ...others]);
  await fetchModules();
  return sum([await vet(), await staticCheck(), await goTest()]);
}

/** Here, where a proxy that stalls is noticed. */
async function fetchModules(): Promise<void> {
  const call = calling("list", "-deps", "-test", "-f", "", "./...");
  const fetched = await goFetching(call, () => undefined);
  if (fetched.code !== 0) throw new Failure(`the lab's modules cannot be had:\n${fetched.stderr.trim()}`);
}

async function vet(): Promise<Counts> {
  const ended = await go(calling("vet", "./..."), { onOutput: (text) => process.stdout.write(text) });
  return counted(ended.code === 0);
}

async function staticCheck(): Promise<Counts> {
  // Among go's caches, to be dropped with them.
  const env = goEnvironment({ env: { STATICCHECK_CACHE: join(cacheFolder, "go", "staticcheck") } });
  return counted((await runAttached(programPath(staticcheck), ["./..."], { cwd: moduleFolder(own), env })) === 0);
}

async function goTest(): Promise<Counts> {
  const report = readGoTest((line) => console.log(line));
  const onOutput = (text: string, stream: "stdout" | "stderr") =>
    stream === "stdout" ? report.hear(text) : void process.stderr.write(text);
  // More at a time than there are cores: what is played passes its time waiting.
  const call = calling("test", "-json", "-parallel", "8", "./...");
  const ended = await go({ ...call, env: programVariables() }, { onOutput });
  const counts = report.counts();
  return ended.code !== 0 && counts.failed === 0 ? sum([counts, counted(false)]) : counts;
}

/** Where tests find the programs that the lab runs: SLUICE_TALOSCTL, SLUICE_CONFIGCHECK_1_12 and so on. */
function programVariables(): Record<string, string> {
  const variable = (name: string) => `SLUICE_${name.toUpperCase().replaceAll(/\W/g, "_")}`;
  return Object.fromEntries(others.map((tool) => [variable(tool.name), programPath(tool)]));
}

function calling(...args: readonly string[]): GoCall {
  return { cwd: moduleFolder(own), args };
}
