// `npm run render -- <environment> [node ...]`: each node's machine config as `up` would make it, secrets masked.
import { machineConfigurationArgs } from "../components/talos/machineConfig.ts";
import { redact } from "../components/talos/redact.ts";
import { readClusterConfigFile } from "../stacks/configFile.ts";
import { machineConfigInput, machineNodes } from "../stacks/machineConfigInput.ts";
import { startGenerator } from "./render/generator.ts";
import { checkPatches } from "./render/patches.ts";
import { talosPlugin } from "./toolchain/toolchain.ts";
import { readEnvironmentCall } from "./workspace/commandLine.ts";
import { settingsFile } from "./workspace/environments.ts";
import { Failure, main } from "./workspace/fail.ts";

const usage = `npm run render -- <environment> [node ...]

Shows the machine config of each node, or of the nodes named, without a cluster and without a network.
Secrets are masked; in place of the cluster's own stand placeholders.`;

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
    console.error(`sluice: ${hidden.join(", ")} cannot be read without the engine and is left out`);
  }
  const cluster = machineConfigInput(config);
  const generator = await startGenerator(await talosPlugin());
  try {
    await checkPatches(config, generator);
    for (const node of nodes.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      const text = redact(await generator.generate(machineConfigurationArgs(cluster, node)));
      console.log(`# ${environment}: ${node.name}, ${node.role}, ${node.address}\n${text.trimEnd()}\n`);
    }
  } finally {
    generator.stop();
  }
  return 0;
});
