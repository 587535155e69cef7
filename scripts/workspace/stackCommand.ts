// `pulumi preview|up|refresh|destroy` of an environment, wherever it runs.
import { join } from "node:path";
import { dropAccess, keepAccess } from "../lab/access.ts";
import { labCommand } from "../lab/call.ts";
import { isFromGoneLab } from "../lab/deployed.ts";
import { forgetDeployed, recordDeployed } from "../lab/deployedRecord.ts";
import type { LabEnvironment } from "../lab/environment.ts";
import { needPlatform, putMachines, startLab } from "../lab/life.ts";
import { printSummary } from "../summary/summary.ts";
import { startTrace } from "../summary/trace.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { engineCall } from "./engine.ts";
import { Failure } from "./fail.ts";
import { taintHalfMade } from "./halfMade.ts";
import { stackAccess } from "./outputs.ts";
import { root, workFolder } from "./paths.ts";
import { run, runAttached } from "./run.ts";
import { checkStack, type Stack } from "./stack.ts";

export const stackCommands = ["preview", "up", "refresh", "destroy"] as const;
export type StackCommand = (typeof stackCommands)[number];

/** Runs it in the terminal and returns the CLI's exit code. */
export async function stackCommand(
  toolchain: Toolchain,
  stack: Stack,
  command: StackCommand,
  options: readonly string[],
): Promise<number> {
  if (command === "preview" || command === "up") await checkStack(toolchain, stack);
  if (command === "up") return update(toolchain, stack, options);
  // A preview says what would be, also where nothing is. To destroy, a lab that is empty does: it says that all is gone.
  const isGone = stack.lab !== undefined && command !== "preview" && (await startFor(stack, stack.lab)).isGone;
  const flags = isGone && command === "destroy" ? [lookFirst] : [];
  const code = await engine(toolchain, stack, [command, ...flags, ...options]);
  if (command === "destroy" && code === 0 && stack.lab !== undefined) {
    const { lab } = stack.lab;
    await dropAccess(lab);
    await forgetDeployed(stack.name);
    console.log(`sluice: the lab runs on; '${labCommand(lab, "down")}' ends it`);
  }
  return code;
}

/** Updates, and tells what came of it, also where it stopped half way: what is there wants to be looked at. */
async function update(toolchain: Toolchain, stack: Stack, options: readonly string[]): Promise<number> {
  if (stack.lab !== undefined) await settleOnLab(toolchain, stack, stack.lab);
  const trace = join(workFolder, "trace", `${stack.name}.jsonl`);
  await startTrace(trace);
  const code = await engine(toolchain, stack, ["up", ...options], { SLUICE_TRACE: trace });
  if (code !== 0) await taintHalfMade(toolchain, stack);
  const lab = stack.lab?.lab;
  if (lab !== undefined) await keepAccess(lab, () => stackAccess(toolchain, stack.name));
  await printSummary({ toolchain, stack, lab, trace });
  return code;
}

/** Starts the lab, and takes away what is left of the environment from one that is gone: there it would be taken for true. */
async function settleOnLab(toolchain: Toolchain, stack: Stack, on: LabEnvironment): Promise<void> {
  const { lab, platform } = on;
  const { running, isGone } = await startFor(stack, on);
  needPlatform(lab, running, platform);
  await putMachines(lab, platform);
  if (isGone) {
    console.error(
      `sluice: ${stack.name} was deployed in a lab that has ended since, and is gone with it: what the state has of it is taken away first, which takes half a minute`,
    );
    const call = await engineCall(toolchain, stack, [
      "destroy",
      ...stack.options,
      lookFirst,
      "--yes",
      "--skip-preview",
    ]);
    const taken = await run(call.program, call.args, { cwd: root, env: call.env });
    if (taken.code !== 0) {
      throw new Failure(
        `what is left of ${stack.name} could not be taken away; 'npm run pulumi -- stack rm ${stack.name} --force' forgets it.\n${taken.stdout}${taken.stderr}`,
      );
    }
  }
  await recordDeployed(stack.name, { lab, life: running.life });
}

/** Hetzner's provider fails at a server that it is to delete and that is gone already, unless it has looked before. */
const lookFirst = "--refresh";

/** Starts the lab unless it runs, and says whether what the stack has was in one that is gone. */
async function startFor({ name }: Stack, { lab, platform }: LabEnvironment) {
  needReachableBackend(name);
  const running = await startLab(lab, platform);
  return { running, isGone: await isFromGoneLab(name, { lab, life: running.life }) };
}

/** The engine runs in the lab, which reaches files of this machine and nothing else. */
function needReachableBackend(name: string): void {
  const backend = process.env.PULUMI_BACKEND_URL;
  if (!backend || backend.startsWith("file://")) return;
  throw new Failure(
    `${name} runs on a lab, from where the backend in PULUMI_BACKEND_URL is not reached: use one of files (file://...), or none.`,
  );
}

async function engine(
  toolchain: Toolchain,
  stack: Stack,
  [command = "", ...options]: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<number> {
  const call = await engineCall(toolchain, stack, [command, ...stack.options, ...options]);
  return runAttached(call.program, call.args, { cwd: root, env: { ...call.env, ...variables } });
}
