// `npm run up -- <environment> --new-cluster`: after the loss of every etcd, starts a new and empty cluster on the same machines.
// docs/decisions/lost-cluster.md
import { join } from "node:path";
import { record, text } from "../../components/model/untyped.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { callBesideEngine } from "../stack/engine.ts";
import { resourcesIn } from "../stack/exported.ts";
import type { Stack } from "../stack/stack.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import type { EtcdLooksCall } from "./etcdLooks.ts";
import { bootstrapType, withoutCluster } from "./withoutCluster.ts";

/** Sluice's own option; the engine has none with this name. */
export const newClusterOption = "--new-cluster";

const looks = join(root, "scripts", "newCluster", "etcdLooks.ts");
/** Each probe of a node has its own deadline. */
const timeoutMs = 30_000;

/** Removes the lost cluster from the state, once it is certain that no control plane has an etcd. */
export async function forgetLostCluster(toolchain: Toolchain, stack: Stack): Promise<void> {
  const call = (input: string | undefined, ...args: readonly string[]) =>
    run(toolchain.pulumi, ["stack", ...args, "--stack", stack.name], {
      ...{ cwd: root, env: stack.environment },
      ...(input !== undefined && { input }),
    });
  const shown = parsed(await call(undefined, "export", "--show-secrets"));
  const bootstrap = resourcesIn(shown).find(({ type }) => type === bootstrapType);
  // A cluster that never started, or that an earlier run with this option has removed.
  if (bootstrap === undefined) return;
  const doubts = await doubtsOf(stack, callOf(record(bootstrap.inputs)));
  if (doubts.length > 0) {
    throw new Failure(
      `${newClusterOption} begins an empty cluster where every etcd is lost, which is not so, or not certain: ${doubts.join("; ")}. Nothing was changed`,
    );
  }
  const exported = parsed(await call(undefined, "export"));
  const without = { ...exported, deployment: withoutCluster(exported.deployment) };
  const imported = await call(JSON.stringify(without), "import");
  if (imported.code !== 0) throw new Failure(`the state cannot be changed:\n${imported.stderr.trim()}`);
  console.error("sluice: no control plane has an etcd: removed the lost cluster from the state; a new one begins");
}

function parsed({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>): Readonly<Record<string, unknown>> {
  if (code !== 0) throw new Failure(`cannot read the state:\n${stderr.trim()}`);
  return record(JSON.parse(stdout));
}

/** From the inputs of a Bootstrap, secrets in plain text. */
function callOf({ controlPlanes, credentials }: Readonly<Record<string, unknown>>): EtcdLooksCall {
  const nodes = controlPlanes as EtcdLooksCall["controlPlanes"];
  return { controlPlanes: nodes, credentials: JSON.parse(text(record(credentials).plaintext)) };
}

/** Why a control plane may have an etcd. */
async function doubtsOf(stack: Stack, input: EtcdLooksCall): Promise<readonly string[]> {
  const { program, args, env } = await callBesideEngine(stack, process.execPath, [looks]);
  const looked = await run(program, args, { cwd: root, env, input: JSON.stringify(input), timeout: timeoutMs });
  if (looked.code !== 0) throw new Failure(`the control planes cannot be observed:\n${looked.stderr.trim()}`);
  return JSON.parse(looked.stdout);
}
