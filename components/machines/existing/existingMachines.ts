import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../model/machine.ts";
import type { Role } from "../../model/role.ts";

export interface ExistingNode {
  readonly name: string;
  readonly role: Role;
  /** In the node network. */
  readonly address: string;
  /** Host name or address by which the machine is reached from this host. Default: its own address. */
  readonly reach?: string | undefined;
  /** What identifies the machine, if its entry has it. */
  readonly mac?: string | undefined;
  readonly uuid?: string | undefined;
}

export interface ExistingMachinesArgs {
  readonly nodes: readonly ExistingNode[];
}

/** Machines that someone else provides: nothing is created here, and nothing is deleted. */
export class ExistingMachines extends pulumi.ComponentResource {
  readonly machines: readonly Machine[];

  constructor(name: string, { nodes }: ExistingMachinesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("sluice:machines:ExistingMachines", name, {}, opts);
    this.machines = nodes.map(({ name: node, role, address, reach, mac, uuid }) => ({
      name: node,
      role,
      address,
      talosAddress: pulumi.output(reach ?? address),
      identity: pulumi.output({ ...(mac !== undefined && { mac }), ...(uuid !== undefined && { uuid }) }),
      // An entry without UUID and MAC accepts any machine at its address.
      machineId: pulumi.output(uuid ?? mac ?? address),
    }));
    this.registerOutputs({});
  }
}
