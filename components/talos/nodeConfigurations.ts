import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../machines/machine.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import { laneBefore, type Parallel } from "./lanes.ts";
import { NodeConfiguration } from "./nodeConfiguration.ts";
import type { RetryPolicy } from "./retry.ts";

export interface NodeConfigurationsArgs {
  /** In the order in which they are configured. */
  readonly machines: readonly Machine[];
  /** The machine config of each, by the node's name. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Input<string>>>;
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** How many at once. Control planes that are bootstrapped go one at a time whatever it says. */
  readonly parallel: Parallel;
  readonly retry: RetryPolicy;
  /** Seconds until a node must run its config. */
  readonly deadline: number;
}

/** The machine configs of all nodes, on the nodes. */
export class NodeConfigurations extends pulumi.ComponentResource {
  /** SHA-256 of the config that each node runs, in their order. */
  readonly hashes: readonly pulumi.Output<string>[];

  constructor(name: string, args: NodeConfigurationsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:NodeConfigurations", name, {}, opts);
    const { machines, machineConfigurations, credentials, parallel, retry, deadline } = args;
    const before = laneBefore(parallel, machines.length);
    const controlPlanes = machines.filter(({ role }) => role === "controlplane");
    const made: NodeConfiguration[] = [];
    for (const [place, machine] of machines.entries()) {
      const machineConfiguration = machineConfigurations[machine.name];
      if (machineConfiguration === undefined) throw new Error(`node '${machine.name}' has no machine config`);
      const previous = made[before[place] ?? -1];
      made.push(
        new NodeConfiguration(
          `${name}-${machine.name}`,
          {
            node: machine.name,
            role: machine.role,
            endpoint: machine.reach,
            address: machine.address,
            peers: controlPlanes.filter(({ name: other }) => other !== machine.name),
            machineConfiguration,
            credentials,
            identity: machine.identity,
            machineId: machine.machineId,
            ...(machine.schematic !== undefined && { imageSchematic: machine.schematic }),
            retry,
            deadline,
          },
          { parent: this, dependsOn: previous === undefined ? [] : [previous] },
        ),
      );
    }
    this.hashes = made.map(({ configHash }) => configHash);
    this.registerOutputs({});
  }
}
