import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";
import type { Machine, MachineIdentity } from "../../model/machine.ts";
import { pick } from "../../model/pick.ts";
import type { Role } from "../../model/role.ts";
import type { RetryPolicy } from "../../waiting/retry.ts";
import type { TalosCredentials } from "../client/talosClient.ts";

export interface AppliedMachineConfigArgs {
  /** The node's name in messages. */
  readonly node: string;
  readonly role: Role;
  /** Host name or address by which its Talos API is reached from this host. */
  readonly talosAddress: pulumi.Input<string>;
  /** Its address in the node network. */
  readonly address: string;
  /** The control planes other than the node itself. They do not change the node, so they are not compared. */
  readonly peers: readonly Pick<Machine, "name" | "address" | "talosAddress">[];
  /** The complete machine config, byte for byte. Kept as a secret. */
  readonly machineConfiguration: pulumi.Input<string>;
  /** The contract that it is written for. Talos does not get it. */
  readonly contract: pulumi.Input<string>;
  /** The client credentials for a node that has its config. Kept as a secret. */
  readonly credentials: pulumi.Input<TalosCredentials>;
  /** What identifies the machine; no config is sent to another one. */
  readonly identity: pulumi.Input<MachineIdentity>;
  /** Changes when the machine is replaced; the new one then gets the config. */
  readonly machineId: pulumi.Input<string>;
  /** The run in which the node was found in maintenance: it gets its config again, once, whatever the state says. Unknown in previews. */
  readonly lostConfigIn?: pulumi.Input<string | undefined>;
  /** The Image Factory schematic of the image that it was created from, if that may differ from the installer's. */
  readonly imageSchematic?: pulumi.Input<string> | undefined;
  readonly retry: RetryPolicy;
  /** Seconds until the node must run its config; waiting for other control planes does not count. */
  readonly deadlineSeconds: number;
  /** Creates this of a node that runs a config, whatever that is: nothing is sent. What differs is recorded, and an update without this sends it. */
  readonly adopts?: true;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "talos",
  name: "AppliedMachineConfig",
  formerName: "NodeConfiguration",
  secrets: ["machineConfiguration", "credentials", "found"],
  outputs: ["joins", "version", "schematic", "stage", "configHash", "attempts", "lastError", "state", "found", "drift"],
};

/**
 * The machine config of one node, sent to it and proven to run there. If the node runs it already, nothing is sent; a foreign node is never written to.
 * Destroying this does nothing to the machine.
 */
export class AppliedMachineConfig extends CheckoutResource {
  /** SHA-256 of the config that runs. */
  declare readonly configHash: pulumi.Output<string>;
  /** How often it got its config again in maintenance. */
  declare readonly joins: pulumi.Output<number>;

  constructor(name: string, { peers, ...args }: AppliedMachineConfigArgs, opts?: pulumi.CustomResourceOptions) {
    const others = peers.map((machine) => pick(machine, "name", "address", "talosAddress"));
    super(type, name, { ...args, peers: others }, opts);
  }
}
