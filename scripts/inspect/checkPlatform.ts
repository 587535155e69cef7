// Before an engine runs: whether the platform has what an environment names. Only reads.
import { text } from "../../components/model/untyped.ts";
import { askPlatform, platformFailure, platformSilence, platformWarnings } from "../../stacks/askPlatform.ts";
import type { ApiAnswers } from "../../stacks/platforms/apiCheck.ts";
import type { PlatformAccount } from "../../stacks/platforms/platform.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import { runningLab } from "../lab/labProcess.ts";
import { lastLine, readState, tokenIn } from "../orphans/settleOrphans.ts";
import type { Stack } from "../stack/stack.ts";
import { stackConfig } from "../stack/stackConfig.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { runInside } from "./inLab.ts";
import type { PlatformCall } from "./platformInside.ts";

/** The program that asks has a deadline of its own; on a busy machine it starts slowly. */
const insideTimeoutMs = 15_000;

export interface PlatformCheck {
  /** Warnings, and what was not checked. */
  readonly notes: readonly string[];
  /** What stops a run. */
  readonly failure?: string | undefined;
}

/** `settle` adopts what an earlier run left, and has been called. */
export async function checkPlatform(
  toolchain: Toolchain,
  stack: Stack,
  settle?: () => Promise<void>,
): Promise<PlatformCheck> {
  // An environment with faults is reported by the program.
  const config = await stackConfig(stack);
  const account = config?.platform.account;
  if (config === undefined || account === undefined) return { notes: [] };
  const question = { config, account, isSettled: settle !== undefined };
  const asked = await ask(toolchain, stack, question);
  // What a killed run called for last may have appeared only now.
  const isLate = settle !== undefined && asked.findings.some(({ code }) => code === "SLU-M122");
  if (isLate) await settle();
  const answers = isLate ? await ask(toolchain, stack, question) : asked;
  const silence = platformSilence(answers, config.platform);
  return {
    notes: [...platformWarnings(answers), ...(silence === undefined ? [] : [silence])],
    failure: platformFailure(answers, `Pulumi.${stack.name}.yaml`)?.message,
  };
}

interface Question {
  readonly config: ClusterConfig;
  readonly account: PlatformAccount;
  readonly isSettled: boolean;
}

async function ask(toolchain: Toolchain, stack: Stack, { config, account, isSettled }: Question): Promise<ApiAnswers> {
  const { key, variable } = account.token;
  const { name, lab } = stack;
  const state = await readState(toolchain, stack);
  const access = { environment: name, isSettled, recorded: state?.resources.map(({ id }) => text(id)) };
  if (lab === undefined) {
    const token = (await tokenIn(toolchain, stack, key)) ?? (process.env[variable] || undefined);
    return askPlatform(config, { ...access, token });
  }
  if ((await runningLab(lab.lab)) === undefined) {
    return askPlatform(config, { ...access, reason: `the lab '${lab.lab}' is not running` });
  }
  const call: PlatformCall = { file: await settingsFile(name), settings: lab.settings, variable, access };
  const said = await runInside({ toolchain, name, lab }, "inspect/platformInside.ts", call, {
    timeoutMs: insideTimeoutMs,
  });
  if (said.code === 0) return JSON.parse(said.stdout);
  return { findings: [], unchecked: [lastLine(said.stderr)] };
}
