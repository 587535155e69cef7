import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../machines/machine.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import { laneBefore, type Parallel } from "./lanes.ts";
import { NodeConfiguration } from "./nodeConfiguration.ts";
import type { RetryPolicy } from "./retry.ts";

export interface NodeConfigurationsArgs {
  /** Each node's machine with its config; control planes first, so that a mistake shows before workers are touched. */
  readonly nodes: readonly { readonly machine: Machine; readonly machineConfiguration: pulumi.Input<string> }[];
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** How many at once. Control planes that are bootstrapped go one at a time whatever it says. */
  readonly parallel: Parallel;
  readonly retry: RetryPolicy;
  /** Seconds until a node must run its config. */
  readonly deadline: number;
}

/** The machine configs of all nodes, on the nodes. */
export class NodeConfigurations extends pulumi.ComponentResource {
  /** By the node's name. */
  readonly nodes: Readonly<Record<string, NodeConfiguration>>;

  constructor(name: string, args: NodeConfigurationsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:talos:NodeConfigurations", name, {}, opts);
    const { nodes, credentials, parallel, retry, deadline } = args;
    const before = laneBefore(parallel, nodes.length);
    const made: NodeConfiguration[] = [];
    for (const [place, { machine, machineConfiguration }] of nodes.entries()) {
      const previous = made[before[place] ?? -1];
      made.push(
        new NodeConfiguration(
          `${name}-${machine.name}`,
          {
            node: machine.name,
            role: machine.role,
            endpoint: machine.reach,
            machineConfiguration,
            credentials,
            identity: machine.identity,
            machineId: machine.machineId,
            retry,
            deadline,
          },
          { parent: this, dependsOn: previous === undefined ? [] : [previous] },
        ),
      );
    }
    this.nodes = Object.fromEntries(
      nodes.map(({ machine }, place) => [machine.name, made[place] as NodeConfiguration]),
    );
    this.registerOutputs({});
  }
}
