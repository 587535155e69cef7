// Prints the summary of `npm start` and `npm run up -- <environment>`, even for a run that failed half-way.
import { styleText } from "node:util";
import { laneBefore } from "../../components/talos/nodes/lanes.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { gatesOf } from "../../stacks/parts/clusterParts.ts";
import { settingsFile } from "../base/environments.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { labCall } from "../lab/labProcess.ts";
import type { Stack } from "../stack/stack.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { report, type Section } from "./report.ts";
import type { Expected, Run } from "./state/run.ts";
import { readStackState } from "./state/stackState.ts";
import type { Fact, Timeline } from "./state/timeline.ts";
import { readTrace } from "./state/trace.ts";

export interface SummaryOptions {
  readonly toolchain: Toolchain;
  readonly stack: Stack;
  /** The name of the lab that it runs on. */
  readonly lab?: string | undefined;
  /** The run's trace: started by `startTrace`, and passed to the engine in SLUICE_TRACE. */
  readonly trace?: string | undefined;
  /** How often the engine ran again in this run. */
  readonly resumed?: number;
  /** Milliseconds that its user took to answer the engine's question. */
  readonly askedMs?: number;
}

/** Returns what is known of the run. Never throws: the outcome of the run does not depend on it. */
export async function printSummary(options: SummaryOptions): Promise<Run | undefined> {
  const { toolchain, stack, lab, trace, resumed = 0, askedMs = 0 } = options;
  const ended = Date.now();
  try {
    const [state, times, timeline, expected] = await Promise.all([
      stateOf(toolchain, stack),
      trace === undefined ? undefined : readTrace(trace),
      lab === undefined ? undefined : timelineOf(lab),
      expectedOf(stack.name),
    ]);
    const run: Run = { expected, state, trace: times, ended, timeline, resumed, askedMs };
    for (const section of report(run)) print(section);
    return run;
  } catch (error) {
    console.error(`sluice: could not print the summary: ${(error as Error).message}`);
    return undefined;
  }
}

function print({ titles, lines }: Section): void {
  const head = titles === undefined ? [] : [styleText("bold", titles, { stream: process.stdout })];
  console.log(["", ...head, ...lines].join("\n"));
}

async function stateOf(toolchain: Toolchain, { name, environment }: Stack) {
  const { stdout } = await said(toolchain.pulumi, ["stack", "export", "--stack", name, "--cwd", root], environment);
  return readStackState(JSON.parse(stdout));
}

async function timelineOf(lab: string): Promise<Timeline> {
  const [status, facts] = await Promise.all([
    said(...labCall(lab, "status")),
    said(...labCall(lab, "timeline", ["--json"])),
  ]);
  const { started } = JSON.parse(status.stdout) as { readonly started: string };
  const lines = facts.stdout.split("\n").filter((line) => line !== "");
  return { started: Date.parse(started), facts: lines.map((line) => JSON.parse(line) as Fact) };
}

async function expectedOf(environment: string): Promise<Expected> {
  const { config } = readClusterConfigFile(await settingsFile(environment));
  const before = laneBefore(config.apply.parallel, config.nodes.length);
  const nodes = config.nodes.map((node, place) => ({ ...node, behind: config.nodes[before[place] ?? -1]?.name }));
  return { clusterName: config.clusterName, nodes, gates: gatesOf(config).map(({ name }) => name) };
}

async function said(program: string, args: readonly string[], env?: NodeJS.ProcessEnv) {
  const ended = await run(program, args, env === undefined ? {} : { env });
  if (ended.code !== 0) throw new Error(`'${args[0]}' ended with ${ended.code}: ${ended.stderr.trim()}`);
  return ended;
}
