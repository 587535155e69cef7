import * as pulumi from "@pulumi/pulumi";
import { ownRow } from "../gates/ownRow.ts";

export interface ClientCertificateArgs {
  /** What it is in, as a person knows it: "talosconfig". */
  readonly file: string;
  /** When it ends: see `endOf`. Nothing where there is no certificate. */
  readonly ends: pulumi.Input<string | undefined>;
  /** Whole days before its end from which on it counts as near. */
  readonly renewDays: number;
}

/**
 * How long a client's certificate is good for; it holds nothing of the certificate itself. A refresh tells that its end is near, and the next update
 * that it is not any more: whoever made the certificate makes another in time.
 */
export class ClientCertificate extends pulumi.dynamic.Resource {
  constructor(name: string, args: ClientCertificateArgs, opts: pulumi.CustomResourceOptions = {}) {
    const row = ownRow("pulumi-nodejs:dynamic/talos:ClientCertificate", name, opts.parent);
    super(provider, name, { ...args, row, drift: undefined }, opts, "talos", "ClientCertificate");
  }
}

/** The engine keeps this text in the state and runs it from there on refresh, so it holds nothing but the way to the code of the checkout. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: async (inputs) => (await import(`${process.cwd()}/components/talos/checkCertificate.ts`)).create(inputs),
  read: async (id, outs) => (await import(`${process.cwd()}/components/talos/checkCertificate.ts`)).read(id, outs),
  diff: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/talos/checkCertificate.ts`)).diff(id, olds, news),
  update: async (id, olds, news) =>
    (await import(`${process.cwd()}/components/talos/checkCertificate.ts`)).update(id, olds, news),
};
