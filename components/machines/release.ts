import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { Machine } from "../model/machine.ts";
import { pick } from "../model/pick.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";

export interface ReleaseArgs {
  readonly machines: readonly Pick<Machine, "name" | "talosAddress" | "identity">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Whether the nodes' configs and data are wiped. Nothing else on their disks is ever wiped. */
  readonly reset: boolean;
  /** Seconds for all machines together. */
  readonly deadlineSeconds: number;
}

const type: CheckoutType = { url: import.meta.url, module: "machines", name: "Release", secrets: ["credentials"] };

/** What happens to machines that outlive their cluster. It happens when this resource is deleted, that is, when the cluster is destroyed. */
export class Release extends CheckoutResource {
  constructor(name: string, { machines, ...args }: ReleaseArgs, opts?: pulumi.CustomResourceOptions) {
    const nodes = machines.map((machine) => pick(machine, "name", "talosAddress", "identity"));
    super(type, name, { ...args, nodes }, opts);
  }
}
