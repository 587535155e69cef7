import * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../../engine/checkoutResource.ts";

export interface ConfigContractArgs {
  /** The contract, such as `v1.13`. If it was not asked for, the state's own wins, and this is the one of a new state. */
  readonly contract: pulumi.Input<string>;
}

const type: CheckoutType = { url: import.meta.url, module: "talos", name: "ConfigContract" };

/**
 * What the machine configs of a cluster are written for: which fields and documents they have, and which defaults Talos' generator puts into them. The state
 * keeps it, so that a new talosVersion changes nothing in the configs but the installer. docs/versions.md
 */
export class ConfigContract extends CheckoutResource {
  declare readonly contract: pulumi.Output<string>;

  constructor(
    name: string,
    { contract }: ConfigContractArgs,
    { isAsked, ...opts }: pulumi.CustomResourceOptions & { readonly isAsked: boolean },
  ) {
    super(type, name, { contract }, pulumi.mergeOptions(opts, { ignoreChanges: isAsked ? [] : ["contract"] }));
  }
}
