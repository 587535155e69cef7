// Where the engine runs: on this machine, or in the network of the lab that an environment runs on.
import { labCall, runningLab } from "../lab/life.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { toolNamed } from "../toolchain/tools.ts";
import type { Stack } from "./stack.ts";
import { temporaryFolder } from "./temporary.ts";

export interface EngineCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** A call of the CLI for a stack. What is on a lab is reached from inside of it; a preview does without while it does not run. */
export async function engineCall(toolchain: Toolchain, stack: Stack, args: readonly string[]): Promise<EngineCall> {
  const own = { ...stack.environment, TMPDIR: temporaryFolder() };
  if (stack.lab === undefined) return { program: toolchain.pulumi, args, env: own };
  const env = withoutAccount(own);
  const { lab } = stack.lab;
  if ((await runningLab(lab)) === undefined) return { program: toolchain.pulumi, args, env };
  await ensureTools([toolNamed("sluice-lab")]);
  const [program, inside] = labCall(lab, "exec", ["--", toolchain.pulumi, ...args]);
  return { program, args: inside, env };
}

/** What is meant for a lab never reaches the account of a person who has one. The lab sets its own. */
function withoutAccount(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(HCLOUD|PROXMOX)_/.test(name)));
}
