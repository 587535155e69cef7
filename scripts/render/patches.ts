// Asks the official generator whether it takes the person's own patches, one by one and before the engine runs. The plugin
// reports a patch that it refuses to the engine itself, in words that quote it, and the engine prints them: a slip in a
// secret patch would show the secret. And a first preview, which knows no machine secrets yet, would not find the slip.
import { type ServiceError, status } from "@grpc/grpc-js";
import { machineConfigurationArgs } from "../../components/talos/machineConfig.ts";
import { userPatches } from "../../components/talos/patches/userPatches.ts";
import { readClusterConfigFile } from "../../stacks/configFile.ts";
import { decodeConfigValues } from "../../stacks/configValues.ts";
import { ConfigError, type Fault } from "../../stacks/fault.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import { type ClusterConfig, clusterConfigSchema } from "../../stacks/schema.ts";
import { type Toolchain, talosPlugin } from "../toolchain/toolchain.ts";
import { settingsFile } from "../workspace/environments.ts";
import { root } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import type { Stack } from "../workspace/stack.ts";
import { type Generator, startGenerator } from "./generator.ts";

/** Throws a `ConfigError` that lists every patch which the generator refuses. Nothing of a secret one is in it. */
export async function checkPatches(config: ClusterConfig, generator: Generator): Promise<void> {
  const cluster = machineConfigInput(config);
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
        // The plugin has ended, or hangs.
        const { code } = error as Partial<ServiceError>;
        if (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED) throw error;
        const words = generatorWords(error);
        const reason = key === "secretPatches" ? withoutValues(words) : words;
        faults.push({ path: `${key}[${index}].patch`, message: `Talos does not take '${patch.name}': ${reason}` });
      }
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
}

/** The same for a stack that is about to be previewed or updated, with the patches that only the engine can decrypt. */
export async function checkStackPatches(toolchain: Toolchain, stack: Stack): Promise<void> {
  const config = await readPatches(toolchain, stack);
  if (config === undefined || config.patches.length + config.secretPatches.length === 0) return;
  const generator = await startGenerator(await talosPlugin());
  try {
    await checkPatches(config, generator);
  } finally {
    generator.stop();
  }
}

/** undefined where the configuration is at fault or cannot be read: the program says so better, knowing all of it. */
async function readPatches(toolchain: Toolchain, stack: Stack): Promise<ClusterConfig | undefined> {
  try {
    const { config, hidden } = readClusterConfigFile(await settingsFile(stack.name));
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

/** The generator's words without its own story of where it was; a second line is indented below the first. */
function generatorWords(error: unknown): string {
  const text = (error as Partial<ServiceError>).details ?? (error as Error).message;
  return text
    .replace(/^(config_patches are invalid: )?(error decoding [^:\n]*: )*/, "")
    .trim()
    .replaceAll("\n", "\n    ");
}

/** Talos quotes the value, and with a key that it does not know all that is below. */
function withoutValues(words: string): string {
  const [, got, wanted] = /cannot \w+ !!(\w+) `[^`\n]*` into ([\w.*[\]]+)$/m.exec(words) ?? [];
  if (wanted !== undefined) return `a value is ${got} and must be ${wanted}; it is secret and not shown`;
  if (words.startsWith("unknown keys")) return "it has a key that Talos does not know; it is secret and not shown";
  return "its words are not shown, for they may quote the secret";
}
