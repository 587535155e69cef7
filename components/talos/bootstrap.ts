import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";
import type { Machine } from "../machines/machine.ts";
import type { ControlPlane } from "./bootstrapCluster.ts";
import type { TalosCredentials } from "./client/talosClient.ts";

export interface BootstrapArgs {
  /** All control planes of the cluster. Only the first is ever bootstrapped, and only when none has an etcd. */
  readonly controlPlanes: readonly Pick<Machine, "name" | "reach" | "machineId">[];
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Seconds until etcd must run. */
  readonly deadline: number;
}

/** The beginning of the cluster: etcd on the first control plane, which the others then join. What is done already is left alone. */
export class Bootstrap extends pulumi.dynamic.Resource {
  constructor(name: string, args: BootstrapArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { controlPlanes, credentials, deadline } = args;
    const row = ownRow("pulumi-nodejs:dynamic/talos:Bootstrap", name, opts.parent);
    const known = controlPlanes.map(
      ({ name: node, reach: endpoint, machineId }): pulumi.Output<ControlPlane> =>
        pulumi.output({ node, endpoint, machineId }),
    );
    super(
      provider,
      name,
      { controlPlanes: known, credentials: pulumi.secret(credentials), deadline, row, bootstrapped: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["credentials"] }),
      "talos",
      "Bootstrap",
    );
  }
}

/** The engine keeps this text in the state and runs it from there on refresh, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/talos/bootstrapCluster.ts`)).create(inputs),
  read: async (id, outs) => (await import(`${process.cwd()}/components/talos/bootstrapCluster.ts`)).read(id, outs),
  diff: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/talos/bootstrapCluster.ts`)).diff(id, olds, news),
  update: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/talos/bootstrapCluster.ts`)).update(id, olds, news),
};
