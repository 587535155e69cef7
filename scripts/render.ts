// `npm run render -- <environment> [node ...]`: each node's machine config as `up` would make it, secrets masked.
import { parseArgs } from "node:util";
import { machineConfigurationArgs } from "../components/talos/machineConfig.ts";
import { redact } from "../components/talos/redact.ts";
import { readClusterConfigFile } from "../stacks/configFile.ts";
import { machineConfigInput, machineNodes } from "../stacks/machineConfigInput.ts";
import { startGenerator } from "./render/generator.ts";
import { checkPatches } from "./render/patches.ts";
import { talosPlugin } from "./toolchain/toolchain.ts";
import { environmentList, settingsFile } from "./workspace/environments.ts";
import { Failure, main } from "./workspace/fail.ts";

await main(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: "boolean" } } });
  const [environment, ...wanted] = positionals;
  if (values.help) {
    console.log(
      "npm run render -- <environment> [node ...]\n\n" +
        "Shows the machine config of each node, or of the nodes named, without a cluster and without a network.\n" +
        `Secrets are masked; in place of the cluster's own stand placeholders.\nEnvironments: ${await environmentList()}.`,
    );
    return 0;
  }
  if (environment === undefined) {
    throw new Failure(
      `npm run render -- <environment> [node ...]: which environment? There are: ${await environmentList()}.`,
    );
  }
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
