import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "./machine.ts";
import type { Role } from "./node.ts";

export interface ExistingNode {
  readonly name: string;
  readonly role: Role;
  /** In the node network. */
  readonly address: string;
  /** Host or address by which the machine is reached from here. Default: its own address. */
  readonly reach?: string | undefined;
  /** What the machine is known by, where its owner has told. */
  readonly mac?: string | undefined;
  readonly uuid?: string | undefined;
}

export interface ExistingMachinesArgs {
  readonly nodes: readonly ExistingNode[];
}

/** Machines that somebody else has set up and will take away: nothing is made here, and nothing is deleted. */
export class ExistingMachines extends pulumi.ComponentResource {
  readonly machines: readonly Machine[];

  constructor(name: string, { nodes }: ExistingMachinesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:machines:ExistingMachines", name, {}, opts);
    this.machines = nodes.map(({ name: node, role, address, reach, mac, uuid }) => ({
      ...{ name: node, role, address },
      reach: pulumi.output(reach ?? address),
      identity: pulumi.output({ ...(mac !== undefined && { mac }), ...(uuid !== undefined && { uuid }) }),
      // Who gives neither UUID nor MAC says with that that any machine at the address will do.
      machineId: pulumi.output(uuid ?? mac ?? address),
    }));
    this.registerOutputs({});
  }
}
