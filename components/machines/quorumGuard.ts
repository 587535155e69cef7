import type * as pulumi from "@pulumi/pulumi";
import type { BackupPolicy } from "../backup/backupFirst.ts";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { MachineEntries } from "../lifecycle/changePlan.ts";
import type { MachinePlace } from "../lifecycle/machinePlatform.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";

export interface QuorumGuardArgs {
  /** The parts of each node's entry that determine its machine, by node name. */
  readonly machines: MachineEntries;
  /** Where the machines can be listed. */
  readonly place: MachinePlace;
  /** Whether machines get their address when they are created, and cannot have another one before they get a config. */
  readonly hasFixedAddresses: boolean;
  /** The platform account's token. Kept as a secret. */
  readonly token?: pulumi.Input<string>;
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** A backup is taken before a control plane's machine is changed; none without this. Kept as a secret. */
  readonly backup?: pulumi.Input<BackupPolicy>;
  /** Seconds in which it must be known whether etcd keeps its quorum. */
  readonly deadlineSeconds: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "machines",
  name: "QuorumGuard",
  formerName: "MachineChanges",
  secrets: ["token", "credentials", "backup"],
  outputs: ["open", "found", "drift"],
};

/**
 * Comes before the machines: providers power off and delete all machines at once, and know nothing about etcd. A preview shows what would happen to each
 * machine; a change that would cost a running cluster its quorum is refused before the first machine is touched. This resource changes no machine, calls
 * nothing when it is created, and destroying it does nothing.
 */
export class QuorumGuard extends CheckoutResource {
  constructor(name: string, args: QuorumGuardArgs, opts?: pulumi.CustomResourceOptions) {
    super(type, name, args, opts);
  }
}
