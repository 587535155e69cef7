import * as pulumi from "@pulumi/pulumi";
import type { BackupPolicy } from "../../backup/backupFirst.ts";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";
import type { Machine } from "../../model/machine.ts";
import { pick } from "../../model/pick.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { type WantedTalos, wantedTalos } from "../../talos/config/wantedTalos.ts";
import type { Parallel } from "../../talos/nodes/lanes.ts";
import type { UpgradeLimits } from "./upgradedCluster.ts";

export interface TalosUpgradeArgs {
  /** All nodes of the cluster. */
  readonly machines: readonly Machine[];
  /** The machine config that each will have, by node name: it says which Talos the node should run. */
  readonly machineConfigurations: Readonly<Record<string, pulumi.Input<string>>>;
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** A backup is taken before the first node is changed; none without this. Kept as a secret. */
  readonly backup?: pulumi.Input<BackupPolicy>;
  /** The schematic of the nodes, which their Image Factory must know. Undefined if it is plain Talos. */
  readonly schematic?: { readonly factory: string; readonly yaml: string } | undefined;
  /** How many workers at once. */
  readonly parallel: Parallel;
  readonly limits: UpgradeLimits;
  /** Seconds for a node to pull the installer. */
  readonly pullSeconds: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "talos",
  name: "TalosUpgrade",
  secrets: ["credentials", "backup"],
  outputs: ["others", "seconds", "drift"],
};

/**
 * The Talos that every node runs. If another version or schematic is asked for, each node of the running cluster is upgraded, one after the other, before it gets
 * its machine config: an older Talos could not read a newer config. Nodes that have no config yet are installed with the right Talos later. Destroying this does
 * nothing.
 */
export class TalosUpgrade extends CheckoutResource {
  constructor(
    name: string,
    { machines, machineConfigurations, ...args }: TalosUpgradeArgs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    // By name, and not as one output each: the name is known even before the machine exists.
    const nodes = Object.fromEntries(
      machines.map((machine) => [
        machine.name,
        {
          ...pick(machine, "name", "role", "address", "talosAddress", "identity"),
          ...(machine.schematic !== undefined && { own: machine.schematic }),
          wanted: wantedIn(machineConfigurations[machine.name]),
        },
      ]),
    );
    super(type, name, { ...args, nodes }, opts);
  }
}

/** Not a secret, although the config is one. Null if the config does not say. */
function wantedIn(config: pulumi.Input<string> | undefined): pulumi.Output<WantedTalos | null> {
  return pulumi.unsecret(pulumi.output(config).apply((text) => wantedTalos(text ?? "") ?? null));
}
