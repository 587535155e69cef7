// The machine configs that an `up` would send, from Talos' own generator, and the credentials that follow from the machine secrets.
import { join } from "node:path";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import { newContract } from "../../components/talos/config/versions.ts";
import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { offerSecrets, secretsFile } from "../../components/talos/secrets/offerSecrets.ts";
import { type SecretsBundle, toPlugin } from "../../components/talos/secrets/secretsBundle.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import type { FoundMachines } from "../../stacks/platforms/foundMachines.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { temporaryFolder } from "../base/temporary.ts";
import type { Generator } from "../render/generator.ts";

/** Secret. */
export async function credentialsOf(bundle: SecretsBundle, generator: Generator): Promise<TalosCredentials> {
  const folder = temporaryFolder();
  const withdraw = await offerSecrets(bundle, folder);
  try {
    return await generator.credentialsFor(join(folder, secretsFile));
  } finally {
    withdraw();
  }
}

/** By node name. Secret. */
export async function wantedConfigs(
  config: ClusterConfig,
  found: FoundMachines,
  bundle: SecretsBundle,
  generator: Generator,
): Promise<Readonly<Record<string, string>>> {
  // That of a state that has no contract yet.
  const cluster = { ...machineConfigInput(config), contract: newContract(config) };
  const { platform, nodes } = config;
  const made = machineNodes(config).map(async (node): Promise<[string, string]> => {
    const listed = nodes.find(({ name }) => name === node.name) ?? nodes[0];
    const platformPatches = listed && platform.adoption?.patches(listed, found, config);
    const args = machineConfigurationArgs(cluster, { ...node, ...(platformPatches && { platformPatches }) });
    return [node.name, await generator.generateWith(toPlugin(bundle), args)];
  });
  return Object.fromEntries(await Promise.all(made));
}
