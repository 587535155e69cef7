// What each node is told to be, and what opens the cluster for a person.
import type * as pulumi from "@pulumi/pulumi";
import type { MachineSecrets } from "../components/talos/machineSecrets.ts";
import { NodeMachineConfig } from "../components/talos/nodeMachineConfig.ts";
import { Talosconfig } from "../components/talos/talosconfig.ts";
import { machineConfigInput, machineNodes } from "./machineConfigInput.ts";
import type { PlatformMachines } from "./machines.ts";
import type { ClusterConfig } from "./schema.ts";

export interface MachineConfigs {
  /** The whole config of each node, by its name. Secret. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Output<string>>>;
  /** For `talosctl`. Secret. */
  readonly talosconfig: pulumi.Output<string>;
}

export function deployMachineConfigs(
  config: ClusterConfig,
  platform: PlatformMachines,
  secrets: MachineSecrets,
): MachineConfigs {
  const { clusterName } = config;
  const cluster = machineConfigInput(config);
  const nodes = machineNodes(config);
  const reach = new Map(platform.machines.map((machine) => [machine.name, machine.reach]));
  const machineConfigurations = Object.fromEntries(
    nodes.map((node) => {
      const made = new NodeMachineConfig(`${clusterName}-${node.name}`, {
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
    // A control plane passes on what is asked of another node, and the firewall lets it reach that by its own address only.
    nodes: nodes.map(({ address }) => address),
  });
  return { machineConfigurations, talosconfig };
}
