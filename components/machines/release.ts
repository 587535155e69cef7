import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { Machine } from "./machine.ts";

export interface ReleaseArgs {
  readonly machines: readonly Pick<Machine, "name" | "reach" | "identity">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Whether the nodes' configs and data are wiped. Nothing else on their disks ever is. */
  readonly reset: boolean;
  /** Seconds for all machines together. */
  readonly deadline: number;
}

/** What becomes of machines that outlive their cluster: it happens when this is deleted, which is when the cluster is destroyed. */
export class Release extends pulumi.dynamic.Resource {
  constructor(name: string, args: ReleaseArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { machines, credentials, reset, deadline } = args;
    const row = ownRow("pulumi-nodejs:dynamic/machines:Release", name, opts.parent);
    const nodes = machines.map(({ name: node, reach: endpoint, identity }) => ({ node, endpoint, identity }));
    super(
      provider,
      name,
      { nodes, credentials: pulumi.secret(credentials), reset, deadline, row },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["credentials"] }),
      "machines",
      "Release",
    );
  }
}

/** The engine keeps this text in the state and runs it from there, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/machines/releaseMachines.ts`)).create(inputs),
  diff: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/machines/releaseMachines.ts`)).diff(id, olds, news),
  update: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/machines/releaseMachines.ts`)).update(id, olds, news),
  delete: async (id, props) =>
    (await import(`${process.cwd()}/components/machines/releaseMachines.ts`)).remove(id, props),
};
