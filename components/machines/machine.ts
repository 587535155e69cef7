import type * as pulumi from "@pulumi/pulumi";

/** A machine of any platform, as the chain sees it. */
export interface Machine {
  /** The node's name. */
  readonly name: string;
  readonly role: "controlplane" | "worker";
  /** Where Talos and Kubernetes know the node: its address in the node network. */
  readonly address: string;
  /** Where the machine is reached from here. Known once it is made. */
  readonly reach: pulumi.Output<string>;
  /** What identifies it beyond its address, where the platform tells: MAC of a NIC, machine UUID. */
  readonly identity: pulumi.Output<MachineIdentity>;
  /** What Kubernetes calls it, where a cloud's controller has a name for it: `hcloud://123`. */
  readonly providerId?: pulumi.Output<string>;
  /** The Image Factory schematic of the image that it was made from, where that may be another than the installer's. */
  readonly schematic?: pulumi.Output<string>;
  /** Changes when the machine is another one. */
  readonly machineId: pulumi.Output<string>;
}

export interface MachineIdentity {
  readonly mac?: string;
  readonly uuid?: string;
}
