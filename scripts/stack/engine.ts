// Decides where the engine runs: on this host, or in the network of an environment's lab.

import { join } from "node:path";
import { root } from "../base/paths.ts";
import { temporaryFolder } from "../base/temporary.ts";
import { labCall, runningLab } from "../lab/labProcess.ts";
import type { ProxyCall } from "../proxy/besideEngine.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { toolNamed } from "../toolchain/tools.ts";
import { kubernetesTimeout } from "./kubernetesTimeout.ts";
import { markOf, markVariable } from "./locks.ts";
import type { Stack } from "./stack.ts";
import { stackConfig } from "./stackConfig.ts";

export interface EngineCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** A call of the CLI for a stack. All processes that it starts carry the stack's mark. */
export async function engineCall(toolchain: Toolchain, stack: Stack, args: readonly string[]): Promise<EngineCall> {
  const [program, ...before] = await engineStarter(stack, args[0]);
  const all = program === undefined ? args : [...before, toolchain.pulumi, ...args];
  const call = await callBesideEngine(stack, program ?? toolchain.pulumi, all);
  return { ...call, env: { ...call.env, ...kubernetesTimeout(args[0]), [markVariable]: markOfStack(stack) } };
}

/** What calls the API of a platform. A preview calls none. */
const callingCommands: readonly (string | undefined)[] = ["up", "refresh", "destroy"];

const proxyStarter = join(root, "scripts", "proxy", "besideEngine.ts");

/** The program that starts the engine, with its first arguments, where one does: it brings a proxy for the platform's API. docs/decisions/api-proxy.md */
async function engineStarter(stack: Stack, command: string | undefined): Promise<readonly string[]> {
  if (!callingCommands.includes(command)) return [];
  const platform = (await stackConfig(stack))?.platform;
  if (platform?.account === undefined) return [];
  const { proxied } = platform.account;
  // The proxy of the user's own network is not replaced by another.
  if (proxied.by === "tunnel" && (process.env.HTTPS_PROXY || process.env.https_proxy)) return [];
  const call: ProxyCall = { title: platform.title, proxied };
  return [process.execPath, proxyStarter, JSON.stringify(call)];
}

/** That of all processes of its engine. */
export function markOfStack({ name, environment }: Stack): string {
  return markOf(environment.PULUMI_BACKEND_URL, name);
}

/** Where the engine of a stack runs, and with which variables. */
export interface EnginePlace extends Pick<Stack, "environment"> {
  readonly lab: { readonly lab: string } | undefined;
}

/** A call of any program where the engine runs. Machines on a lab are reachable only from inside; a preview needs no running lab. */
export async function callBesideEngine(
  stack: EnginePlace,
  program: string,
  args: readonly string[],
): Promise<EngineCall> {
  const own = { ...stack.environment, TMPDIR: temporaryFolder() };
  if (stack.lab === undefined) return { program, args, env: own };
  const env = await withoutAccount(own);
  const { lab } = stack.lab;
  if ((await runningLab(lab)) === undefined) return { program, args, env };
  await ensureTools([toolNamed("sluice-lab")]);
  const [labProgram, inside] = labCall(lab, "exec", ["--", program, ...args]);
  return { program: labProgram, args: inside, env };
}

/** Nothing that is meant for a lab may reach the user's own account. The lab sets its own variables. */
async function withoutAccount(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { allPlatforms } = await import("../../stacks/platforms/registry.ts");
  const prefixes = allPlatforms.flatMap(({ account }) => account?.variables ?? []);
  const isKept = (name: string) => !prefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
