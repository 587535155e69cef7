import type * as pulumi from "@pulumi/pulumi";
import type { Role } from "./role.ts";

/** A machine of any platform, as the chain uses it. */
export interface Machine {
  /** The node's name. */
  readonly name: string;
  readonly role: Role;
  /** The node's address in the node network, under which Talos and Kubernetes know it. */
  readonly address: string;
  /** Host name or address by which the machine's Talos API is reached from this host. Known once the machine exists. */
  readonly talosAddress: pulumi.Output<string>;
  /** What identifies it besides its address, if the platform reports it: MAC of a NIC, machine UUID. */
  readonly identity: pulumi.Output<MachineIdentity>;
  /** The provider id in Kubernetes, if a cloud controller sets one: `hcloud://123`. */
  readonly providerId?: pulumi.Output<string>;
  /** The Image Factory schematic of the image that it was created from, if that may differ from the installer's. */
  readonly schematic?: pulumi.Output<string>;
  /** Changes when the machine is recreated or replaced. */
  readonly machineId: pulumi.Output<string>;
}

export interface MachineIdentity {
  readonly mac?: string;
  readonly uuid?: string;
}
