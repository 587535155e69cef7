import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource } from "../engine/checkoutResource.ts";

export interface StableGatesArgs {
  /** By the gates' names, how they opened: when a gate runs again, this is waited for again. */
  readonly openings: pulumi.Input<Readonly<Record<string, string>>>;
}

/** The end of the chain: every gate that has opened has stayed open for its stability window. */
export class StableGates extends CheckoutResource {
  constructor(name: string, args: StableGatesArgs, opts: pulumi.CustomResourceOptions) {
    super({ url: import.meta.url, module: "chain", name: "StableGates", outputs: ["proved"] }, name, { ...args }, opts);
  }
}
