import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { Machine } from "../model/machine.ts";
import { pick } from "../model/pick.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { BackupPolicy } from "./backupFirst.ts";

export interface LatestBackupArgs {
  /** All nodes of the cluster. */
  readonly machines: readonly Pick<Machine, "name" | "role" | "address" | "talosAddress">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Kept as a secret. */
  readonly backup: pulumi.Input<BackupPolicy>;
  readonly maxAgeHours: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "backup",
  name: "LatestBackup",
  secrets: ["credentials", "backup"],
  outputs: ["stale"],
};

/** The newest backup of the cluster: if there is none, or none that is recent, of this cluster and for the current keys, one is taken. Destroying this deletes none. */
export class LatestBackup extends CheckoutResource {
  constructor(name: string, { machines, ...args }: LatestBackupArgs, opts?: pulumi.CustomResourceOptions) {
    const nodes = machines.map((machine) => pick(machine, "name", "role", "address", "talosAddress"));
    super(type, name, { ...args, nodes }, opts);
  }
}
