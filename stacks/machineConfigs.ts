// The machine config of each node, and the talosconfig.
import type * as pulumi from "@pulumi/pulumi";
import { Talosconfig } from "../components/talos/credentials/talosconfig.ts";
import { GeneratedMachineConfig } from "../components/talos/generate/generatedMachineConfig.ts";
import { machineConfigInput, machineNodes } from "./machineConfigInput.ts";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import type { ClusterSecrets } from "./talosStages.ts";

export interface MachineConfigs {
  /** The complete config of each node, by node name. Secret. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Output<string>>>;
  /** For `talosctl`. Secret. */
  readonly talosconfig: pulumi.Output<string>;
}

export function deployMachineConfigs(
  config: ClusterConfig,
  platform: PlatformMachines,
  secrets: ClusterSecrets,
): MachineConfigs {
  const { clusterName } = config;
  const cluster = machineConfigInput(config);
  const nodes = machineNodes(config);
  const reach = new Map(platform.machines.map((machine) => [machine.name, machine.talosAddress]));
  const machineConfigurations = Object.fromEntries(
    nodes.map((node) => {
      const made = new GeneratedMachineConfig(`${clusterName}-${node.name}`, {
        cluster,
        node,
        machineSecrets: secrets.machineSecrets,
        platformPatches: platform.patches[node.name],
      });
      return [node.name, made.machineConfiguration];
    }),
  );
  const { talosconfig } = new Talosconfig(clusterName, {
    clusterName,
    clientConfiguration: secrets.clientConfiguration,
    endpoints: nodes
      .filter(({ role }) => role === "controlplane")
      .map(({ name, address }) => reach.get(name) ?? address),
    // A control plane forwards calls to other nodes, and the firewall lets it reach them only by their own addresses.
    nodes: nodes.map(({ address }) => address),
  });
  return { machineConfigurations, talosconfig };
}
