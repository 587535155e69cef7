import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";
import type { Machine } from "../../model/machine.ts";
import { pick } from "../../model/pick.ts";
import type { TalosCredentials } from "../client/talosClient.ts";

export interface BootstrapArgs {
  /** All control planes of the cluster. Only the first is ever bootstrapped, and only if none has an etcd. */
  readonly controlPlanes: readonly Pick<Machine, "name" | "talosAddress" | "machineId">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Changes when a control plane lost its config and got it again: its etcd is gone, and may have been the only one. */
  readonly rejoined?: pulumi.Input<number | undefined>;
  /** Seconds until etcd must run. */
  readonly deadlineSeconds: number;
  /** Creates this of a cluster that runs: nothing is bootstrapped, and a cluster without an etcd is refused. */
  readonly adopts?: true;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "talos",
  name: "Bootstrap",
  secrets: ["credentials"],
  outputs: ["bootstrapped"],
};

/** The start of the cluster: etcd on the first control plane, which the others then join. An existing etcd is left alone. */
export class Bootstrap extends CheckoutResource {
  constructor(name: string, { controlPlanes, ...args }: BootstrapArgs, opts?: pulumi.CustomResourceOptions) {
    const known = controlPlanes.map((machine) => pick(machine, "name", "talosAddress", "machineId"));
    super(type, name, { ...args, controlPlanes: known }, opts);
  }
}
