import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";

export interface ProxmoxAddressArgs {
  /** The node's name in messages. */
  readonly node: string;
  /** The Proxmox API. */
  readonly apiUrl: string;
  readonly insecure: boolean;
  /** Kept as a secret. */
  readonly token: pulumi.Input<string>;
  /** The host that the VM is on. */
  readonly host: pulumi.Input<string>;
  readonly vmId: number;
  readonly mac: string;
  /** The address in the node's entry, which the DHCP server has reserved for it. */
  readonly listed: string;
  /** Changes when the VM is recreated. */
  readonly machineId: pulumi.Input<string>;
  /** Seconds until the VM must have its address. */
  readonly deadlineSeconds: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "machines",
  name: "ProxmoxAddress",
  secrets: ["token"],
  outputs: ["found"],
};

/**
 * The address that a VM has from a DHCP server, as its guest agent reports it: found by the MAC, never guessed. It must be the listed one. Destroying this
 * does nothing.
 */
export class ProxmoxAddress extends CheckoutResource {
  declare readonly found: pulumi.Output<string>;

  constructor(name: string, args: ProxmoxAddressArgs, opts?: pulumi.CustomResourceOptions) {
    super(type, name, args, opts);
  }
}
