// The whole chain, a line a stage. What a stage does is in its component; a stage waits for what it is given.
import type * as pulumi from "@pulumi/pulumi";
import { schematicId } from "../components/images/schematic.ts";
import { MachineSecrets } from "../components/talos/machineSecrets.ts";
import { NodeMachineConfig } from "../components/talos/nodeMachineConfig.ts";
import { machineConfigInput, machineNodes } from "./machineConfigInput.ts";
import type { ClusterConfig } from "./schema.ts";

export interface ClusterOutputs {
  /** Where clients find the Kubernetes API. */
  readonly endpoint: string;
  /** The Image Factory schematic that every node boots from. */
  readonly schematicId: string;
  readonly nodes: Readonly<Record<string, { readonly role: string; readonly address: string }>>;
  /** For `talosctl`. Secret. */
  readonly talosconfig: pulumi.Output<string>;
  /** Each node's machine config. Secret. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Output<string>>>;
}

export function deployCluster(config: ClusterConfig): ClusterOutputs {
  const cluster = machineConfigInput(config);
  const nodes = machineNodes(config);
  const controlPlanes = nodes.filter((node) => node.role === "controlplane");

  const secrets = new MachineSecrets(
    config.clusterName,
    {
      clusterName: config.clusterName,
      talosVersion: config.talosVersion,
      endpoints: controlPlanes.map((node) => node.address),
      nodes: nodes.map((node) => node.address),
    },
    { protect: config.protect },
  );
  const { machineSecrets } = secrets;
  const machineConfigs = nodes.map((node) => ({
    node: node.name,
    config: new NodeMachineConfig(`${config.clusterName}-${node.name}`, { cluster, node, machineSecrets }),
  }));

  return {
    endpoint: `https://${cluster.endpoint}:6443`,
    schematicId: schematicId(config.image),
    nodes: Object.fromEntries(nodes.map(({ name, role, address }) => [name, { role, address }])),
    talosconfig: secrets.talosconfig,
    machineConfigurations: Object.fromEntries(
      machineConfigs.map(({ node, config }) => [node, config.machineConfiguration]),
    ),
  };
}
