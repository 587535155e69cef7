import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import type { MachineEntries } from "./machineChange.ts";
import type { MachinePlace } from "./standingMachines.ts";

export interface MachineChangesArgs {
  /** What of each node's entry decides about its machine, by the node's name. */
  readonly machines: MachineEntries;
  /** Who tells which machines there are. */
  readonly place: MachinePlace;
  /** Machines have their address from what they were made with, and no other before they get a config. */
  readonly hasFixedAddresses: boolean;
  /** Of the account with the platform. Kept as a secret. */
  readonly token?: pulumi.Input<string> | undefined;
  /** Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** Seconds in which it must be known what etcd bears. */
  readonly deadline: number;
}

/**
 * Stands before the machines: providers turn machines off and delete them at once and all together, and know nothing of etcd. What would become of
 * a machine is told in previews; what a living cluster would not bear is refused before the first machine is touched. It writes to none, asks nobody
 * when it is made, and destroying it does nothing.
 */
export class MachineChanges extends pulumi.dynamic.Resource {
  constructor(name: string, args: MachineChangesArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { token, credentials, ...plain } = args;
    const row = ownRow("pulumi-nodejs:dynamic/machines:MachineChanges", name, opts.parent);
    super(
      provider,
      name,
      {
        ...plain,
        ...(token !== undefined && { token: pulumi.secret(token) }),
        credentials: pulumi.secret(credentials),
        row,
        open: undefined,
        found: undefined,
        drift: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["token", "credentials"] }),
      "machines",
      "MachineChanges",
    );
  }
}

/** The engine keeps this text in the state and runs it from there on refresh, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/machines/allowChanges.ts`)).create(inputs),
  read: async (id, outs) => (await import(`${process.cwd()}/components/machines/allowChanges.ts`)).read(id, outs),
  diff: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/machines/allowChanges.ts`)).diff(id, olds, news),
  update: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/machines/allowChanges.ts`)).update(id, olds, news),
};
