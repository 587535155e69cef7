// The state of a stack, read without a call of the engine where it is in files.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { record, text } from "../../components/model/untyped.ts";
import { firstContract } from "../../components/talos/config/versions.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { resourcesIn } from "./exported.ts";
import type { Stack } from "./stack.ts";

/** What the CLI exports, without its envelope, secrets encrypted; undefined if there is no such stack. The CLI takes half a second for what is in a file. */
export async function deploymentOf(
  { pulumi }: Pick<Toolchain, "pulumi">,
  stack: Pick<Stack, "name" | "environment"> & { readonly local: { readonly state: string } | undefined },
): Promise<unknown> {
  const { name, environment: env, local } = stack;
  const inFile = local && (await deploymentIn(local.state, name));
  if (inFile !== undefined) return inFile;
  const exported = await run(pulumi, ["stack", "export", "--stack", name], { cwd: root, env });
  return exported.code === 0 ? record(JSON.parse(exported.stdout)).deployment : undefined;
}

/** The same from the folder of a backend that keeps files; undefined if it has no such stack, or is writing its state right now. */
export async function deploymentIn(folder: string, name: string): Promise<unknown> {
  try {
    const state = await readFile(join(folder, ".pulumi", "stacks", "sluice", `${name}.json`), "utf8");
    return record(record(JSON.parse(state)).checkpoint).latest;
  } catch {
    return undefined;
  }
}

/** What a cluster's machine configs are written for, as the program decides it: stacks/machineConfigs.ts. */
export function contractOf(config: ClusterConfig, deployment: unknown): string {
  const { configContract, talosVersion } = config;
  if (configContract !== undefined) return configContract;
  const all = resourcesIn({ deployment });
  const outputs = (type: string) => record(all.find((resource) => resource.type === type)?.outputs);
  const recorded = text(outputs("pulumi-nodejs:dynamic/talos:ConfigContract").contract);
  if (recorded !== "") return recorded;
  return firstContract(text(outputs("talos:machine/secrets:Secrets").talosVersion), talosVersion);
}
