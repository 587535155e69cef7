import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";

export interface ProxmoxAddressArgs {
  /** The node's name, as every message calls it. */
  readonly node: string;
  /** The Proxmox API. */
  readonly endpoint: string;
  readonly insecure: boolean;
  readonly token: pulumi.Input<string>;
  /** The host that the VM is on. */
  readonly host: pulumi.Input<string>;
  readonly vmId: number;
  readonly mac: string;
  /** The address in the node's entry, which the DHCP server has reserved. */
  readonly listed: string;
  /** Changes when the VM is another one. */
  readonly machineId: pulumi.Input<string>;
  /** Seconds until the VM must have its address. */
  readonly deadline: number;
}

/**
 * The address that a VM has from a DHCP server, as its guest agent tells it: found by the MAC, never guessed. It must be the one that is listed.
 * Destroying this does nothing.
 */
export class ProxmoxAddress extends pulumi.dynamic.Resource {
  declare readonly found: pulumi.Output<string>;

  constructor(name: string, args: ProxmoxAddressArgs, opts: pulumi.CustomResourceOptions = {}) {
    const { token, ...plain } = args;
    const row = ownRow("pulumi-nodejs:dynamic/machines:ProxmoxAddress", name, opts.parent);
    super(
      provider,
      name,
      { ...plain, token: pulumi.secret(token), row, found: undefined },
      pulumi.mergeOptions(opts, { additionalSecretOutputs: ["token"] }),
      "machines",
      "ProxmoxAddress",
    );
  }
}

/** The engine keeps this text in the state, so it holds no more than the way to the code. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/machines/proxmoxLease.ts`)).create(inputs),
  read: async (id, before) => (await import(`${process.cwd()}/components/machines/proxmoxLease.ts`)).read(id, before),
  diff: async (id, before, inputs) =>
    (await import(`${process.cwd()}/components/machines/proxmoxLease.ts`)).diff(id, before, inputs),
  update: async (id, before, inputs) =>
    (await import(`${process.cwd()}/components/machines/proxmoxLease.ts`)).update(id, before, inputs),
};
