// `npm run render -- <environment> [node ...]`: each node's machine config as `up` would generate it, secrets masked.

import { redact } from "../../components/talos/config/redact.ts";
import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { configWarnings } from "../../stacks/config/warnings.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import { readEnvironmentCall } from "../base/commandLine.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";
import { startGenerator } from "../render/generator.ts";
import { checkPatches } from "../render/patches.ts";
import { contractOf, deploymentIn } from "../stack/deployment.ts";
import { stateFolderOf } from "../stack/stack.ts";
import { talosPlugin } from "../toolchain/toolchain.ts";

const usage = `npm run render -- <environment> [node ...]

Prints the machine config of each node, or of the nodes named. Needs no cluster and no network.
It is of the contract in the state, if there is one, unless the environment sets configContract.
Secrets are masked; machine secrets are placeholders.`;

await main(async () => {
  const call = await readEnvironmentCall(usage, {}, { takesMore: true });
  if (call === undefined) return 0;
  const { environment, more: wanted } = call;
  const { config, hidden } = readClusterConfigFile(await settingsFile(environment));
  const nodes = machineNodes(config);
  const unknown = wanted.filter((name) => !nodes.some((node) => node.name === name));
  if (unknown.length > 0) {
    throw new Failure(
      `${environment} has no node ${unknown.join(", ")}. Its nodes: ${nodes.map(({ name }) => name).join(", ")}.`,
    );
  }
  if (hidden.length > 0) {
    const is = hidden.length === 1 ? "is" : "are";
    console.error(`sluice: ${hidden.join(", ")} ${is} left out: only the engine can decrypt them`);
  }
  for (const warning of configWarnings(config)) console.error(`sluice: warning: ${warning}`);
  const folder = stateFolderOf();
  const contract = contractOf(config, folder && (await deploymentIn(folder, environment)));
  if (folder === undefined && config.configContract === undefined) {
    console.error(`sluice: of contract ${contract}; if ${environment} is deployed, its state may have another`);
  }
  const cluster = { ...machineConfigInput(config), contract };
  const generator = await startGenerator(await talosPlugin());
  try {
    await checkPatches(config, contract, generator, `Pulumi.${environment}.yaml`);
    for (const node of nodes.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      const text = redact(await generator.generate(machineConfigurationArgs(cluster, node)));
      console.log(`# ${environment}: ${node.name}, ${node.role}, ${node.address}\n${text.trimEnd()}\n`);
    }
  } finally {
    generator.stop();
  }
  return 0;
});
