import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../model/machine.ts";
import { pick } from "../../model/pick.ts";
import type { RetryPolicy } from "../../waiting/retry.ts";
import type { TalosCredentials } from "../client/talosClient.ts";
import { AppliedMachineConfig } from "./appliedMachineConfig.ts";
import { laneBefore, type Parallel } from "./lanes.ts";

export interface AppliedMachineConfigsArgs {
  /** The nodes, in the order in which they are configured. */
  readonly machines: readonly Machine[];
  /** The machine config of each, by node name. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Input<string>>>;
  /** What they are written for. */
  readonly contract: pulumi.Input<string>;
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** How many nodes at once. Control planes that are bootstrapped always go one at a time. */
  readonly parallel: Parallel;
  readonly retry: RetryPolicy;
  /** Seconds until a node must run its config. */
  readonly deadlineSeconds: number;
  /** Whether a node is in maintenance now. Not called in previews, which need no network. */
  readonly isInMaintenance: IsInMaintenance;
  /** Differs in each run. */
  readonly run: string;
  /** The nodes are those of a running cluster: they are recorded as they are. */
  readonly adopts?: true | undefined;
}

export type IsInMaintenance = (talosAddress: string, credentials: TalosCredentials) => Promise<boolean>;

/** The machine configs of all nodes, applied to the nodes. */
export class AppliedMachineConfigs extends pulumi.ComponentResource {
  /** What each node runs, in their order: SHA-256 of its config, with a suffix once it had lost the config. */
  readonly hashes: readonly pulumi.Output<string>[];

  /** How often control planes lost their config and got it again. */
  readonly rejoined: pulumi.Output<number>;

  /** Whether the nodes are recorded as they are. */
  readonly adopts: true | undefined;

  constructor(name: string, args: AppliedMachineConfigsArgs, opts?: pulumi.ComponentResourceOptions) {
    super(
      "sluice:talos:AppliedMachineConfigs",
      name,
      {},
      // Its type in a state that was not updated since. docs/decisions/provider-paths.md
      pulumi.mergeOptions(opts, { aliases: [{ type: "sluice:talos:NodeConfigurations" }] }),
    );
    const {
      machines,
      machineConfigurations,
      contract,
      credentials,
      parallel,
      retry,
      deadlineSeconds,
      isInMaintenance,
      run,
    } = args;
    this.adopts = args.adopts;
    const before = laneBefore(parallel, machines.length);
    const controlPlanes = machines.filter(({ role }) => role === "controlplane");
    const made: AppliedMachineConfig[] = [];
    for (const [place, machine] of machines.entries()) {
      const machineConfiguration = machineConfigurations[machine.name];
      if (machineConfiguration === undefined) throw new Error(`node '${machine.name}' has no machine config`);
      const previous = made[before[place] ?? -1];
      made.push(
        new AppliedMachineConfig(
          `${name}-${machine.name}`,
          {
            node: machine.name,
            ...pick(machine, "role", "address", "talosAddress", "identity", "machineId"),
            peers: controlPlanes.filter(({ name: other }) => other !== machine.name),
            machineConfiguration,
            contract,
            credentials,
            ...(args.adopts && { adopts: true }),
            ...(!pulumi.runtime.isDryRun() && {
              lostConfigIn: pulumi.unsecret(
                pulumi
                  .all([machine.talosAddress, credentials])
                  .apply(async (node) => ((await isInMaintenance(...node)) ? run : undefined)),
              ),
            }),
            ...(machine.schematic !== undefined && { imageSchematic: machine.schematic }),
            retry,
            deadlineSeconds,
          },
          { parent: this, dependsOn: previous === undefined ? [] : [previous] },
        ),
      );
    }
    this.hashes = made.map(({ configHash, joins }) =>
      pulumi.all([configHash, joins]).apply(([hash, times]) => (times === 0 ? hash : `${hash} again ${times}`)),
    );
    const joins = made.filter((_, place) => machines[place]?.role === "controlplane").map((one) => one.joins);
    this.rejoined = pulumi.all(joins).apply((all) => all.reduce((sum, one) => sum + one, 0));
    this.registerOutputs({});
  }
}
