// Asks the official generator whether it accepts each of the user's patches, before the engine runs. The plugin quotes a rejected patch in its error, which
// the engine prints: an error in a secret patch would print the secret. Also, a first preview has no machine secrets yet and would not find the error.
import { type ServiceError, status } from "@grpc/grpc-js";
import { userPatches } from "../../components/talos/config/patches/userPatches.ts";
import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { ConfigError, type Fault } from "../../stacks/base/fault.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { decodeConfigValues } from "../../stacks/config/configValues.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import { type ClusterConfig, clusterConfigSchema } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { contractOf, deploymentOf } from "../stack/deployment.ts";
import type { Stack } from "../stack/stack.ts";
import { programPath } from "../toolchain/entry.ts";
import { type Toolchain, talosPlugin } from "../toolchain/toolchain.ts";
import { configCheckFor } from "../toolchain/tools.ts";
import { type Generator, startGenerator } from "./generator.ts";
import { checkNodeConfigs, talosValidator } from "./validate.ts";

/** Throws a `ConfigError` that lists every patch which the generator rejects. It contains nothing of secret patches. */
export async function checkPatches(
  config: ClusterConfig,
  contract: string,
  generator: Generator,
  file: string,
): Promise<void> {
  const cluster = { ...machineConfigInput(config), contract };
  const nodes = machineNodes(config);
  const faults: Fault[] = [];
  for (const key of ["patches", "secretPatches"] as const) {
    for (const [index, patch] of config[key].entries()) {
      const alone = { ...cluster, patches: [patch], secretPatches: [] };
      const node = nodes.find((candidate) => userPatches(alone, candidate).length > 0);
      if (node === undefined) continue;
      try {
        await generator.generate(machineConfigurationArgs(alone, node));
      } catch (error) {
        // The plugin has ended, or does not answer.
        const { code } = error as Partial<ServiceError>;
        if (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED) throw error;
        const words = generatorWords(error);
        const reason = key === "secretPatches" ? withoutValues(words) : words;
        faults.push({ path: `${key}[${index}].patch`, message: `Talos rejects '${patch.name}': ${reason}` });
      }
    }
  }
  if (faults.length > 0) throw new ConfigError(faults, [], file);
}

/**
 * For a stack that is about to be previewed or updated, with the patches that only the engine can decrypt: these, and then each node's config. Returns the
 * validator of the stack's Talos version, with which an upgrade judges the configs that nodes run.
 */
export async function checkStackConfigs(toolchain: Toolchain, stack: Stack): Promise<string | undefined> {
  const config = await readPatches(toolchain, stack);
  if (config === undefined) return undefined;
  await checkConfigs(config, await deploymentOf(toolchain, stack), await talosPlugin(), `Pulumi.${stack.name}.yaml`);
  return programPath(configCheckFor(config.talosVersion));
}

/** Throws a `ConfigError` that lists what Talos rejects: patches, or else what the nodes' final configs have. */
export async function checkConfigs(
  config: ClusterConfig,
  deployment: unknown,
  plugin: string,
  file: string,
): Promise<void> {
  const validate = await talosValidator(config.talosVersion);
  const contract = contractOf(config, deployment);
  const generator = await startGenerator(plugin);
  try {
    await checkPatches(config, contract, generator, file);
    await checkNodeConfigs(config, contract, generator, validate, file);
  } finally {
    generator.stop();
  }
}

/** Undefined if the configuration has faults or cannot be read: the program reports that better. */
async function readPatches(toolchain: Toolchain, stack: Stack): Promise<ClusterConfig | undefined> {
  try {
    const { config, hidden } = readClusterConfigFile(await settingsFile(stack.name), stack.lab?.settings);
    if (!hidden.includes("secretPatches")) return config;
    const asked = await run(toolchain.pulumi, ["config", "get", "secretPatches", ...stack.options], {
      cwd: root,
      env: stack.environment,
    });
    const { secretPatches } = decodeConfigValues({ secretPatches: asked.stdout });
    return { ...config, secretPatches: clusterConfigSchema.shape.secretPatches.parse(secretPatches) };
  } catch {
    return undefined;
  }
}

/** The generator's message without its call path; a second line is indented below the first. */
function generatorWords(error: unknown): string {
  const text = (error as Partial<ServiceError>).details ?? (error as Error).message;
  return text
    .replace(/^(config_patches are invalid: )?(error decoding [^:\n]*: )*/, "")
    .trim()
    .replaceAll("\n", "\n    ");
}

/** Talos quotes the value, and for an unknown key everything below it. */
function withoutValues(words: string): string {
  const [, got, wanted] = /cannot \w+ !!(\w+) `[^`\n]*` into ([\w.*[\]]+)$/m.exec(words) ?? [];
  if (wanted !== undefined) return `a value is ${got} and must be ${wanted}; it is secret and not shown`;
  if (words.startsWith("unknown keys")) return "it has a key that Talos does not know; it is secret and not shown";
  return "the message is not shown, because it may quote the secret";
}
