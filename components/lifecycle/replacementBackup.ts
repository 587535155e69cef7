import type * as pulumi from "@pulumi/pulumi";
import type { BackupPolicy } from "../backup/backupFirst.ts";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { Machine } from "../model/machine.ts";
import { pick } from "../model/pick.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";

export interface ReplacementBackupArgs {
  /** All control planes of the cluster. */
  readonly controlPlanes: readonly Pick<Machine, "name" | "address" | "talosAddress" | "machineId">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Kept as a secret. */
  readonly backup: pulumi.Input<BackupPolicy>;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "talos",
  name: "ReplacementBackup",
  secrets: ["credentials", "backup"],
};

/**
 * Comes before the machine configs: a machine in place of a lost control plane gets its config only once a backup was taken from the others, because it then
 * removes the lost one from etcd. Does nothing when it is created, and nothing when it is destroyed.
 */
export class ReplacementBackup extends CheckoutResource {
  constructor(name: string, { controlPlanes, ...args }: ReplacementBackupArgs, opts?: pulumi.CustomResourceOptions) {
    const known = controlPlanes.map((machine) => pick(machine, "name", "address", "talosAddress", "machineId"));
    super(type, name, { ...args, controlPlanes: known }, opts);
  }
}
