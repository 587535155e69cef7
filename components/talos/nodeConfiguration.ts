import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";
import type { Machine, MachineIdentity } from "../machines/machine.ts";
import type { Role } from "../machines/node.ts";
import type { TalosCredentials } from "./client/talosClient.ts";
import type { RetryPolicy } from "./retry.ts";

export interface NodeConfigurationArgs {
  /** The node's name, as every message calls it. */
  readonly node: string;
  readonly role: Role;
  /** Where the machine is reached from here. */
  readonly endpoint: pulumi.Input<string>;
  /** In the node network. */
  readonly address: string;
  /** The control planes, but for the node itself. */
  readonly peers: readonly Pick<Machine, "name" | "address" | "reach">[];
  /** The machine config, all documents. Kept as a secret. */
  readonly machineConfiguration: pulumi.Input<string>;
  /** The client's, for when the node has its config. Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** What the machine must be; nothing is sent to another one. */
  readonly identity: pulumi.Input<MachineIdentity>;
  /** Changes when the machine is another one, which then gets its config anew. */
  readonly machineId: pulumi.Input<string>;
  /** The Image Factory schematic of the image that it was made from, where that may be another than the installer's. */
  readonly imageSchematic?: pulumi.Input<string> | undefined;
  readonly retry: RetryPolicy;
  /** Seconds until the node must run its config. */
  readonly deadline: number;
}

/**
 * The machine config of one node, sent to it and proven to run there. A node that runs it already is left alone, a foreign one is never written to.
 * Destroying it does nothing: the machine goes by itself, or stays as it is.
 */
export class NodeConfiguration extends pulumi.dynamic.Resource {
  /** Talos on the node when it was looked at last. */
  declare readonly version: pulumi.Output<string>;
  /** The Image Factory schematic that the node runs; empty without one. */
  declare readonly schematic: pulumi.Output<string>;
  /** The stage that the node was in: "booting", "running". */
  declare readonly stage: pulumi.Output<string>;
  /** SHA-256 of the config that runs. */
  declare readonly configHash: pulumi.Output<string>;
  /** How many tries it took the last time. */
  declare readonly attempts: pulumi.Output<number>;
  /** Why the try before the last one failed, where there was one: a code of the catalogue. */
  declare readonly lastError: pulumi.Output<string | undefined>;

  constructor(name: string, args: NodeConfigurationArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { machineConfiguration, credentials, peers, ...plain } = args;
    const row = ownRow("pulumi-nodejs:dynamic/talos:NodeConfiguration", name, opts.parent);
    super(
      provider,
      name,
      {
        ...plain,
        peers: peers.map(({ name: node, address, reach: endpoint }) => ({ node, address, endpoint })),
        machineConfiguration: pulumi.secret(machineConfiguration),
        credentials: pulumi.secret(credentials),
        row,
        version: undefined,
        schematic: undefined,
        stage: undefined,
        configHash: undefined,
        attempts: undefined,
        lastError: undefined,
        state: undefined,
        found: undefined,
        drift: undefined,
      },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["machineConfiguration", "credentials", "found"] }),
      "talos",
      "NodeConfiguration",
    );
  }
}

/** The engine keeps this text in the state and runs it from there on refresh, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/talos/applyConfiguration.ts`)).create(inputs),
  read: async (id, outs) => (await import(`${process.cwd()}/components/talos/applyConfiguration.ts`)).read(id, outs),
  diff: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/talos/applyConfiguration.ts`)).diff(id, olds, news),
  update: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/talos/applyConfiguration.ts`)).update(id, olds, news),
};
