// What is told at the end of `npm start` and `npm run up -- <environment>`, also when it failed half way.
import { styleText } from "node:util";
import { type GateName, gateNames } from "../../components/gates/registry.ts";
import { laneBefore } from "../../components/talos/lanes.ts";
import { readClusterConfigFile } from "../../stacks/configFile.ts";
import { hasCsi, hasFlux } from "../../stacks/platformParts.ts";
import type { ClusterConfig } from "../../stacks/schema.ts";
import { labCall } from "../lab/life.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { settingsFile } from "../workspace/environments.ts";
import { root } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import type { Stack } from "../workspace/stack.ts";
import type { Fact, Timeline } from "./facts.ts";
import { type Expected, report, type Section } from "./report.ts";
import { readStackState } from "./stackState.ts";
import { readTrace } from "./trace.ts";

export interface SummaryOptions {
  readonly toolchain: Toolchain;
  readonly stack: Stack;
  /** The name of the lab that it runs on. */
  readonly lab?: string | undefined;
  /** The file that the run's times are in: begun by `startTrace`, and named to the engine by SLUICE_TRACE. */
  readonly trace?: string | undefined;
}

/** Never throws: the run has ended as it has, whether it can be told of or not. */
export async function printSummary({ toolchain, stack, lab, trace }: SummaryOptions): Promise<void> {
  const ended = Date.now();
  try {
    const [state, times, timeline, expected] = await Promise.all([
      stateOf(toolchain, stack),
      trace === undefined ? undefined : readTrace(trace),
      lab === undefined ? undefined : timelineOf(lab),
      expectedOf(stack.name),
    ]);
    for (const section of report({ expected, state, trace: times, ended, timeline })) print(section);
  } catch (error) {
    console.error(`sluice: what came of it cannot be shown: ${(error as Error).message}`);
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
  return { clusterName: config.clusterName, nodes, gates: gatesOf(config) };
}

/** The gates that the chain of an environment has. */
export function gatesOf(
  config: Pick<ClusterConfig, "platform" | "network" | "csi" | "sealedSecrets" | "flux">,
): GateName[] {
  const absent = new Set<GateName>([
    ...(config.network.vip !== undefined ? [] : (["VirtualAddress"] as const)),
    ...(hasCsi(config) ? [] : (["CsiReady"] as const)),
    ...(config.sealedSecrets.enabled ? [] : (["SealedSecretsReady"] as const)),
    ...(hasFlux(config) ? [] : (["GitOpsReady"] as const)),
  ]);
  return gateNames.filter((gate) => !absent.has(gate));
}

async function said(program: string, args: readonly string[], env?: NodeJS.ProcessEnv) {
  const ended = await run(program, args, env === undefined ? {} : { env });
  if (ended.code !== 0) throw new Error(`'${args[0]}' ended with ${ended.code}: ${ended.stderr.trim()}`);
  return ended;
}
