// The check of the lab's Go code: vet, staticcheck and tests.
import { join } from "node:path";
import { Failure } from "../../base/fail.ts";
import { cacheFolder } from "../../base/paths.ts";
import { runAttached } from "../../base/run.ts";
import { ensureTools } from "../../toolchain/ensure.ts";
import { programPath } from "../../toolchain/entry.ts";
import { type GoCall, go, goEnvironment, goFetching, goVersion } from "../../toolchain/go.ts";
import { moduleFolder } from "../../toolchain/goModule.ts";
import { labPrograms, toolNamed } from "../../toolchain/tools.ts";
import { type Counts, counted, sum } from "./counts.ts";
import { readGoTest } from "./goTest.ts";

const own = toolNamed("sluice-lab");
const others = labPrograms.filter((tool) => tool !== own);
const staticcheck = toolNamed("staticcheck");

/** All tests, or those that options of `go test` select. */
export async function labCode(options: readonly string[]): Promise<Counts> {
  await goVersion();
  await ensureTools(options.length > 0 ? others : [staticcheck, ...others]);
  await fetchModules();
  if (options.length > 0) return goTest(withPackages(options));
  return sum([await vet(), await staticCheck(), await goTest(["./..."])]);
}

/** Options of `go test` that name no package apply to all. */
function withPackages(options: readonly string[]): readonly string[] {
  return options.some((option) => option.startsWith(".")) ? options : [...options, "./..."];
}

/** Downloaded here, where a stalled module proxy is noticed. */
async function fetchModules(): Promise<void> {
  const call = calling("list", "-deps", "-test", "-f", "", "./...");
  const fetched = await goFetching(call);
  if (fetched.code !== 0) throw new Failure(`cannot download the lab's modules:\n${fetched.stderr.trim()}`);
}

async function vet(): Promise<Counts> {
  const ended = await go(calling("vet", "./..."), { onOutput: (text) => process.stdout.write(text) });
  return counted(ended.code === 0);
}

async function staticCheck(): Promise<Counts> {
  // Inside go's caches, so that it is removed with them.
  const env = goEnvironment({ env: { STATICCHECK_CACHE: join(cacheFolder, "go", "staticcheck") } });
  return counted((await runAttached(programPath(staticcheck), ["./..."], { cwd: moduleFolder(own), env })) === 0);
}

async function goTest(options: readonly string[]): Promise<Counts> {
  const report = readGoTest((line) => console.log(line));
  const onOutput = (text: string, stream: "stdout" | "stderr") =>
    stream === "stdout" ? report.hear(text) : void process.stderr.write(text);
  // More at once than there are cores: simulated machines mostly wait.
  const call = calling("test", "-json", "-parallel", "8", ...options);
  const ended = await go({ ...call, env: programVariables() }, { onOutput });
  const counts = report.counts();
  const isMissed = counts.failed === 0 && (ended.code !== 0 || counts.passed === 0);
  return isMissed ? sum([counts, counted(false)]) : counts;
}

/** The paths of the programs that the lab runs: SLUICE_TALOSCTL, SLUICE_CONFIGCHECK_1_12 and so on. */
function programVariables(): Record<string, string> {
  const variable = (name: string) => `SLUICE_${name.toUpperCase().replaceAll(/\W/g, "_")}`;
  return Object.fromEntries(others.map((tool) => [variable(tool.name), programPath(tool)]));
}

function calling(...args: readonly string[]): GoCall {
  return { cwd: moduleFolder(own), args };
}
