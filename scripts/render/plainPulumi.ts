// What the npm commands do before they start the engine, for a preview that was started without them: the program asks for it itself.
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { deploymentOf } from "../stack/deployment.ts";
import { localFolder } from "../stack/stack.ts";
import { areBuilt } from "../toolchain/ensure.ts";
import { presentTalosPlugin } from "../toolchain/toolchain.ts";
import { configCheckFor } from "../toolchain/tools.ts";
import { checkConfigs } from "./patches.ts";

/** Throws a `ConfigError` that lists what Talos' own validator refuses. Returns why it was not asked, if it was not: nothing is built or downloaded here. */
export async function judgeConfigs(config: ClusterConfig, stack: string): Promise<string | undefined> {
  const validator = configCheckFor(config.talosVersion);
  const plugin = await presentTalosPlugin();
  if (plugin === undefined || !(await areBuilt([validator]))) return `${validator.name} is not built on this machine`;
  const state = localFolder(process.env);
  const local = state === undefined ? undefined : { state };
  const deployment = await deploymentOf({ pulumi: "pulumi" }, { name: stack, environment: process.env, local });
  if (deployment === undefined) return "the state cannot be read";
  await checkConfigs(config, deployment, plugin, `Pulumi.${stack}.yaml`);
  return undefined;
}
