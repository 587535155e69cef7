import type * as pulumi from "@pulumi/pulumi";
import type { BackupPolicy } from "../backup/backupFirst.ts";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { Machine } from "../model/machine.ts";
import { pick } from "../model/pick.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";

export interface MembersArgs {
  /** All nodes of the cluster. */
  readonly machines: readonly Pick<Machine, "name" | "role" | "address" | "talosAddress" | "identity">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** A backup is taken before a control plane leaves; none without this. Kept as a secret. */
  readonly backup?: pulumi.Input<BackupPolicy>;
  /** Seconds for the pods of a node to leave it. */
  readonly drainDeadlineSeconds: number;
  /** Seconds for each other step. */
  readonly deadlineSeconds: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "talos",
  name: "Members",
  secrets: ["credentials", "backup"],
};

/**
 * The nodes of the cluster. A node that is no longer listed is removed from Kubernetes and etcd and reset, before any gate checks the remaining nodes; the
 * engine deletes its machine at the very end. Destroying this does nothing: when the whole cluster goes, no node is drained.
 */
export class Members extends CheckoutResource {
  constructor(name: string, { machines, ...args }: MembersArgs, opts?: pulumi.CustomResourceOptions) {
    // By name, and not as one output each: the name is known even before the machine exists.
    const nodes = Object.fromEntries(
      machines.map((machine) => [machine.name, pick(machine, "name", "role", "address", "talosAddress", "identity")]),
    );
    super(type, name, { ...args, nodes }, opts);
  }
}
