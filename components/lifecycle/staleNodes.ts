import type * as pulumi from "@pulumi/pulumi";
import type { RestoredFrom } from "../backup/restore.ts";
import type { RestorePlan } from "../backup/restorePoint.ts";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { CurrentMachine } from "./staleJudgement.ts";

/** A node of the environment, as it is reached. */
export interface RestoredNode extends CurrentMachine {
  readonly talosAddress: string;
}

export interface StaleNodesArgs {
  /** All nodes of the cluster. */
  readonly nodes: pulumi.Input<readonly RestoredNode[]>;
  /** Undefined if this environment's state does not know of a restore. */
  readonly restored: pulumi.Input<RestoredFrom | undefined>;
  /** Kept as a secret. */
  readonly plan: pulumi.Input<RestorePlan>;
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Kept as a secret. */
  readonly kubeconfig: pulumi.Input<string>;
  /** Seconds for all of it. */
  readonly deadlineSeconds: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "backup",
  name: "StaleNodes",
  secrets: ["plan", "credentials", "kubeconfig"],
};

/**
 * Between the Kubernetes API and the gate that every node has joined: a snapshot has the Node objects of the machines that existed when it was taken. Those of
 * machines that are gone are deleted, with their VolumeAttachments, leases, CSINodes and CiliumNodes. docs/decisions/restored-nodes.md
 */
export class StaleNodes extends CheckoutResource {
  constructor(name: string, args: StaleNodesArgs, opts?: pulumi.CustomResourceOptions) {
    super(type, name, args, opts);
  }
}
