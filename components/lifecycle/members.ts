import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";
import type { Machine } from "../machines/machine.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";

export interface MembersArgs {
  /** All nodes of the cluster. */
  readonly machines: readonly Pick<Machine, "name" | "role" | "address" | "reach" | "identity">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Seconds for the pods of a node to leave it. */
  readonly drainDeadline: number;
  /** Seconds for each other step. */
  readonly deadline: number;
}

/**
 * Who belongs to the cluster. A node that is in the list no more is taken out of Kubernetes and etcd and reset, before any gate asks for the nodes that
 * stay; its machine is deleted by the engine, which does so when all else is done. Destroying it does nothing: with the whole cluster nobody is drained.
 */
export class Members extends pulumi.dynamic.Resource {
  constructor(name: string, args: MembersArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { machines, credentials, drainDeadline, deadline } = args;
    const row = ownRow("pulumi-nodejs:dynamic/talos:Members", name, opts.parent);
    // Not an output each: of a machine that is not made yet at least the name is known.
    const nodes = Object.fromEntries(
      machines.map(({ name: node, role, address, reach: endpoint, identity }) => [
        node,
        { node, role, address, endpoint, identity },
      ]),
    );
    super(
      provider,
      name,
      { nodes, credentials: pulumi.secret(credentials), drainDeadline, deadline, row },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["credentials"] }),
      "talos",
      "Members",
    );
  }
}

/** The engine keeps this text in the state and runs it from there on refresh, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/lifecycle/changeMembers.ts`)).create(inputs),
  diff: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/lifecycle/changeMembers.ts`)).diff(id, olds, news),
  update: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/lifecycle/changeMembers.ts`)).update(id, olds, news),
};
