// An environment with the values that only the engine can decrypt.
import { record, text } from "../../components/model/untyped.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { decodeConfigValues } from "../../stacks/config/configValues.ts";
import { projectName } from "../../stacks/config/settingsFile.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import type { Stack } from "./stack.ts";

/** Secret. Throws what is wrong with the file, with all of it at once. */
export async function decryptedConfig(toolchain: Toolchain, stack: Stack): Promise<ClusterConfig> {
  const file = await settingsFile(stack.name);
  const { config, hidden } = readClusterConfigFile(file, stack.lab?.settings);
  if (hidden.length === 0) return config;
  const asked = await run(toolchain.pulumi, ["config", "--json", "--show-secrets", ...stack.options], {
    cwd: root,
    env: stack.environment,
  });
  if (asked.code !== 0) throw new Failure(`cannot decrypt the settings of ${stack.name}:\n${asked.stderr.trim()}`);
  const prefix = `${projectName}:`;
  const own = Object.entries(record(JSON.parse(asked.stdout)))
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [key.slice(prefix.length), text(record(value).value)]);
  return parseClusterConfig(decodeConfigValues(Object.fromEntries(own)), { file: `Pulumi.${stack.name}.yaml` });
}
