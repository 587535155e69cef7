import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";

export interface ClientCertificateArgs {
  /** The file that contains it, for messages: "talosconfig". */
  readonly file: string;
  /** When it expires: see `endOf`. Undefined without a certificate. */
  readonly ends?: pulumi.Input<string | undefined>;
  /** Days before its expiry from which on the expiry counts as near. */
  readonly renewDays: number;
}

const type: CheckoutType = { url: import.meta.url, module: "talos", name: "ClientCertificate", outputs: ["drift"] };

/**
 * How long a client certificate is valid; it contains nothing of the certificate itself. A refresh reports that its expiry is near, and the next update
 * that it no longer is: the resource that issued the certificate renews it in time.
 */
export class ClientCertificate extends CheckoutResource {
  constructor(name: string, args: ClientCertificateArgs, opts?: pulumi.CustomResourceOptions) {
    super(type, name, args, opts);
  }
}
