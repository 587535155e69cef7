// `pulumi preview|up|refresh|destroy` of an environment, wherever it runs.
import { join } from "node:path";
import { validatorVariable } from "../../components/upgrade/talos/configValidator.ts";
import { askedVariable } from "../../stacks/askPlatform.ts";
import { judgedVariable, previewsVariable } from "../../stacks/config/remarks.ts";
import { EventLog } from "../base/eventLog.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { reporting } from "../base/reporting.ts";
import { passReportsOn, run, runAttached } from "../base/run.ts";
import { temporaryFolder } from "../base/temporary.ts";
import type { PlatformCheck } from "../inspect/checkPlatform.ts";
import { dropCredentials, keepCredentials } from "../lab/credentials.ts";
import { deployedEnvironments, forgetDeployed, recordDeployed } from "../lab/deploymentRecord.ts";
import type { LabEnvironment } from "../lab/environment.ts";
import { isFromGoneLab } from "../lab/goneLab.ts";
import { labCommand } from "../lab/labCommand.ts";
import { labCall, needPlatform, putMachines, startLab } from "../lab/labProcess.ts";
import { ownTerminal } from "../live/reservedLines.ts";
import { hasTable, watchRun } from "../live/watchRun.ts";
import { forgetLostCluster, newClusterOption } from "../newCluster/newCluster.ts";
import { settleEarlierRun } from "../orphans/settleEarlierRun.ts";
import { endKilledRun } from "../orphans/settleKilledRun.ts";
import { resumedUp } from "../resume/resumedUp.ts";
import { readRunEvents } from "../resume/runEvents.ts";
import { stackCredentials } from "../stack/credentials.ts";
import { engineCall } from "../stack/engine.ts";
import { taintFailedCreations } from "../stack/failedCreations.ts";
import { protectionAdvice } from "../stack/protection.ts";
import { settleReleases } from "../stack/releases.ts";
import type { Stack } from "../stack/stack.ts";
import { keepTrace, startTrace } from "../summary/state/trace.ts";
import { printSummary } from "../summary/summary.ts";
import { writeTimeline } from "../timeline/writeTimeline.ts";
import { charts } from "../toolchain/labTools.ts";
import type { Tool } from "../toolchain/tool.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { configCheckFor, labToolsFor } from "../toolchain/tools.ts";
import { checkRestore } from "./checkRestore.ts";

export const stackCommands = ["preview", "up", "refresh", "destroy"] as const;
export type StackCommand = (typeof stackCommands)[number];

/** The tools that a command needs besides the CLI and its plugins. */
export function toolsFor(command: StackCommand, on: LabEnvironment | undefined): readonly Tool[] {
  if (on === undefined) return [];
  const validator = configCheckFor(on.talosVersion);
  if (command === "preview") return on.hasLabCharts ? [charts, validator] : [validator];
  return [...labToolsFor([on.talosVersion]), ...(command === "up" ? [validator] : [])];
}

/** Runs it in the terminal and returns the CLI's exit code. */
export async function stackCommand(
  toolchain: Toolchain,
  stack: Stack,
  command: StackCommand,
  options: readonly string[],
): Promise<number> {
  if (command === "preview") {
    const [, check] = await Promise.all([checkConfigs(toolchain, stack), checkOffer(toolchain, stack)]);
    needOffer(check);
  }
  if (command === "up") {
    const validator = await checkConfigs(toolchain, stack);
    await checkRestore(toolchain, stack, options);
    return update(toolchain, stack, options, validator === undefined ? {} : { [validatorVariable]: validator });
  }
  // A preview needs no lab. For destroy an empty lab is enough: it reports that everything is gone.
  const isGone = stack.lab !== undefined && command !== "preview" && (await startFor(stack, stack.lab)).isGone;
  const flags = isGone && command === "destroy" ? [refreshFirst] : [];
  if (command !== "preview" && !isGone) {
    await reporting("checking what an earlier run left", () => settleEarlierRun(toolchain, stack, command));
  }
  const code = await watched(toolchain, stack, command, [...flags, ...options]);
  if (command === "destroy" && code !== 0) await explainProtection(toolchain, stack);
  if (command === "destroy" && code === 0 && stack.lab !== undefined) {
    const { lab } = stack.lab;
    await dropCredentials(lab);
    await forgetDeployed(stack.name);
    console.log(`sluice: ${await leaveLab(stack.lab)}`);
  }
  return code;
}

/** After a `destroy` that failed: how to destroy what is protected, which the engine explains with commands that do not work here. */
async function explainProtection({ pulumi }: Toolchain, { name, environment: env }: Stack): Promise<void> {
  const exported = await run(pulumi, ["stack", "export", "--stack", name], { cwd: root, env });
  const advice = exported.code === 0 ? protectionAdvice(name, JSON.parse(exported.stdout)) : undefined;
  if (advice !== undefined) console.error(`sluice: ${advice}`);
}

/** Refuses, before the engine runs, what it or a node would find late, or print too much about. It has a generator and SDKs of its own to load. */
async function checkConfigs(toolchain: Toolchain, stack: Stack): Promise<string | undefined> {
  const { checkStackConfigs } = await import("../render/patches.ts");
  return await checkStackConfigs(toolchain, stack);
}

/** Asks the platform's API, only reading. */
async function checkOffer(toolchain: Toolchain, stack: Stack, settle?: () => Promise<void>): Promise<PlatformCheck> {
  const { checkPlatform } = await import("../inspect/checkPlatform.ts");
  return checkPlatform(toolchain, stack, settle);
}

/** Refuses what the platform's API would refuse after other resources were created. What the environment itself has wrong is reported before. */
function needOffer({ notes, failure }: PlatformCheck): void {
  for (const note of notes) console.error(`sluice: ${note}`);
  if (failure !== undefined) throw new Failure(failure);
}

/** Ends a lab that `--lab` started for this environment alone; any other is its user's. */
async function leaveLab({ lab, settings }: LabEnvironment): Promise<string> {
  const isRehearsal = settings !== undefined && (await deployedEnvironments(lab)).length === 0;
  if (!isRehearsal) return `the lab is still running; '${labCommand(lab, "down")}' ends it`;
  const ended = await run(...labCall(lab, "down"));
  return ended.code === 0 ? `the lab '${lab}' has ended` : `cannot end the lab '${lab}': ${ended.stderr.trim()}`;
}

/** Shows below the engine's table what it waits for; a preview waits for nothing. */
async function watched(
  toolchain: Toolchain,
  stack: Stack,
  command: StackCommand,
  options: readonly string[],
): Promise<number> {
  const isLogged = options.some((option) => option.startsWith("--event-log"));
  if (command === "preview" || isLogged) return engine(toolchain, stack, [command, ...options]);
  const log = new EventLog();
  // Only with this variable does the engine have the option.
  const variables = { PULUMI_DEBUG_COMMANDS: "true" };
  const start = () => engine(toolchain, stack, [command, "--event-log", log.path, ...options], variables);
  try {
    return (await watchRun(log, start, hasTable(options) ? ownTerminal() : undefined)).result;
  } finally {
    log.close();
  }
}

/** Updates, resumes after transient failures, and prints a summary of all that, also of an update that failed half-way. */
async function update(
  toolchain: Toolchain,
  stack: Stack,
  given: readonly string[],
  added: NodeJS.ProcessEnv,
): Promise<number> {
  if (stack.lab !== undefined) await settleOnLab(toolchain, stack, stack.lab);
  const settle = () => reporting("checking what an earlier run left", () => settleEarlierRun(toolchain, stack, "up"));
  await settle();
  if (given.includes(newClusterOption)) await forgetLostCluster(toolchain, stack);
  needOffer(await checkOffer(toolchain, stack, settle));
  const options = given.filter((option) => option !== newClusterOption);
  // When it resumes, the engine does not preview again.
  const previews = isPreviewed(options) ? { [previewsVariable]: "true" } : {};
  // Its own until it has ended: the engine may refuse this run, because another one of the stack is in progress.
  const trace = join(temporaryFolder(), "trace.jsonl");
  await startTrace(trace);
  const { code, times, hasRun, advice, attempts, askedMs } = await resumedUp(stack, options, {
    engine: (chosen, variables) =>
      engine(toolchain, stack, ["up", ...chosen], { ...variables, ...previews, ...added, SLUICE_TRACE: trace }),
    settle: () => taintFailedCreations(toolchain, stack),
    prepare: async (log) => {
      await settle();
      await settleReleases(toolchain, stack, readRunEvents(log).unfinished);
    },
  });
  if (hasRun) {
    const lab = stack.lab?.lab;
    await reporting("reading the state", async () => {
      if (lab !== undefined) await keepCredentials(lab, () => stackCredentials(toolchain, stack.name));
      const run = await printSummary({ toolchain, stack, lab, trace, resumed: times, askedMs });
      const page = run && (await writeTimeline({ environment: stack.name, run, attempts, hasFailed: code !== 0 }));
      if (page !== undefined) console.log(`  Timeline of this run: ${page}`);
      await keepTrace(trace, stack.name);
    });
  }
  if (advice !== undefined) console.error(`\nsluice: ${advice}`);
  return code;
}

function isPreviewed(options: readonly string[]): boolean {
  const isSkipped = options.some((option) => /^(--skip-preview(=true)?|-[a-z]*f[a-z]*)$/.test(option));
  return !isSkipped && process.env.PULUMI_SKIP_PREVIEW !== "true";
}

/** Starts the lab, and removes from the state what was deployed in an ended lab: the engine would treat it as existing. */
async function settleOnLab(toolchain: Toolchain, stack: Stack, on: LabEnvironment): Promise<void> {
  const { lab, platform } = on;
  const { running, isGone } = await startFor(stack, on);
  needPlatform(lab, running, platform);
  await putMachines(lab, platform);
  if (isGone) {
    console.error(
      `sluice: ${stack.name} was deployed in a lab that has since ended: removing it from the state first, which takes half a minute`,
    );
    const call = await engineCall(toolchain, stack, [
      "destroy",
      ...stack.options,
      refreshFirst,
      "--yes",
      "--skip-preview",
    ]);
    const remove = () => run(call.program, call.args, { cwd: root, env: call.env, onOutput: passReportsOn });
    const taken = await reporting(`removing ${stack.name} from the state`, remove);
    if (taken.code !== 0) {
      throw new Failure(
        `cannot remove ${stack.name} from the state; 'npm run pulumi -- stack rm ${stack.name} --force' deletes the state.\n${taken.stdout}${taken.stderr}`,
      );
    }
  }
  await recordDeployed(stack.name, { lab, life: running.life });
}

/** Hetzner's provider fails to delete a server that is already gone, unless the state was refreshed before. */
const refreshFirst = "--refresh";

/** Starts the lab unless it runs; `isGone` if the stack was deployed in a lab that has ended. */
async function startFor({ name }: Stack, on: LabEnvironment) {
  const { lab } = on;
  needReachableBackend(name);
  const running = await startLab(lab, on);
  return { running, isGone: await isFromGoneLab(name, { lab, life: running.life }) };
}

/** The engine runs in the lab, from where it can reach files of this host and nothing else. */
function needReachableBackend(name: string): void {
  const backend = process.env.PULUMI_BACKEND_URL;
  if (!backend || backend.startsWith("file://")) return;
  throw new Failure(
    `${name} runs on a lab, from which the backend in PULUMI_BACKEND_URL cannot be reached: use a file backend (file://...), or none.`,
  );
}

async function engine(
  toolchain: Toolchain,
  stack: Stack,
  [command = "", ...options]: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<number> {
  const call = await engineCall(toolchain, stack, [command, ...stack.options, ...options]);
  const env = { ...call.env, [askedVariable]: "true", [judgedVariable]: "true", ...variables };
  const code = await runAttached(call.program, call.args, { cwd: root, env });
  // After its own end the engine has ended its plugins; a signal gives it no time for that.
  if (code > 128) endKilledRun(stack);
  return code;
}
