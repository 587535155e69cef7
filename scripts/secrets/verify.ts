// Verifies machine secrets before anything depends on them: they fit together, and Talos' own generator makes of them a config that has exactly them.
import { count } from "../../components/model/count.ts";
import { newContract } from "../../components/talos/config/versions.ts";
import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { bundleFaults } from "../../components/talos/secrets/bundleFaults.ts";
import { differences, faultText, type SecretsBundle, toPlugin } from "../../components/talos/secrets/secretsBundle.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { Failure } from "../base/fail.ts";
import { type Generator, startGenerator } from "../render/generator.ts";
import { readSource } from "./sources.ts";

/** `program` is the Talos plugin. Throws a `Failure` that contains no secret. */
export async function verify(bundle: SecretsBundle, config: ClusterConfig, program: string): Promise<void> {
  const faults = bundleFaults(bundle, Date.now());
  if (faults.length > 0) {
    const lines = faults.map((fault) => `  ${faultText(fault)}`);
    throw new Failure(`the machine secrets have ${count(faults.length, "fault")}:\n${lines.join("\n")}`);
  }
  const generator = await startGenerator(program);
  try {
    const other = differences(bundle, readSource(await controlPlaneConfig(bundle, config, generator)).bundle);
    if (other.length > 0) {
      throw new Failure(`Talos' generator makes a machine config with others of them: ${other.join(", ")}.`);
    }
  } finally {
    generator.stop();
  }
}

/** Without patches: nothing but the secrets can be refused. */
async function controlPlaneConfig(bundle: SecretsBundle, config: ClusterConfig, generator: Generator): Promise<string> {
  const node = machineNodes(config).find(({ role }) => role === "controlplane");
  if (node === undefined) throw new Error("there is no control plane"); // a rule has checked it
  const cluster = { ...machineConfigInput(config), contract: newContract(config) };
  const args = { ...machineConfigurationArgs(cluster, node), configPatches: [] };
  return await generator.generateWith(toPlugin(bundle), args).catch(() => {
    throw new Failure(
      "Talos' generator refuses the machine secrets. Its words are not shown, because they may quote one.",
    );
  });
}
