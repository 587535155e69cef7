import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { Machine } from "../model/machine.ts";
import { pick } from "../model/pick.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { RestorePlan } from "./restorePoint.ts";

export interface RestoreArgs {
  /** All control planes of the cluster. Etcd is restored on the first, and only if none has an etcd. */
  readonly controlPlanes: readonly Pick<Machine, "name" | "talosAddress" | "machineId">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Kept as a secret. */
  readonly plan: pulumi.Input<RestorePlan>;
  /** Changes when a control plane lost its config and got it again: its etcd is gone, and may have been the only one. */
  readonly rejoined?: pulumi.Input<number | undefined>;
  /** Seconds until etcd must run. */
  readonly deadlineSeconds: number;
}

/** What a cluster was restored from. */
export interface RestoredFrom {
  /** The backup. */
  readonly name: string;
  /** In UTC, ISO 8601. */
  readonly takenAt: string;
  readonly revision: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "backup",
  name: "Restore",
  secrets: ["credentials", "plan"],
  outputs: ["restored", "isGone"],
};

/** Comes before the bootstrap, which then finds an etcd: a cluster without one begins with a backup. An existing etcd is left alone. Destroying this does nothing. */
export class Restore extends CheckoutResource {
  declare readonly restored: pulumi.Output<RestoredFrom | undefined>;

  constructor(name: string, { controlPlanes, ...args }: RestoreArgs, opts?: pulumi.CustomResourceOptions) {
    const known = controlPlanes.map((machine) => pick(machine, "name", "talosAddress", "machineId"));
    super(type, name, { ...args, controlPlanes: known }, opts);
  }
}
