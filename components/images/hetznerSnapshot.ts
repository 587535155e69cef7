import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource, type CheckoutType } from "../engine/checkoutResource.ts";
import type { ImageSettings } from "../model/settings/image.ts";

export interface HetznerSnapshotArgs {
  /** All of them, each with its value. */
  readonly labels: Readonly<Record<string, string>>;
  readonly architecture: ImageSettings["architecture"];
  /** The servers that start from it: the location of each, by its name. Without a snapshot those that exist stay as they are. */
  readonly servers: Readonly<Record<string, string>>;
  /** Of the Hetzner project. Kept as a secret. */
  readonly token: pulumi.Input<string>;
  /** The command to create one, for the error message. */
  readonly remedy: string;
  /** Seconds in which it must be found. */
  readonly deadlineSeconds: number;
}

const type: CheckoutType = {
  url: import.meta.url,
  module: "images",
  name: "HetznerSnapshot",
  secrets: ["token"],
  outputs: ["snapshotId", "description"],
};

/**
 * The newest snapshot with these labels. It is searched for on creation and on refresh: it is unknown in the first preview, and later taken from the state.
 * As long as there is none, and no server needs one, every update searches again.
 * HCLOUD_ENDPOINT names the address of the API.
 */
export class HetznerSnapshot extends CheckoutResource {
  declare readonly snapshotId: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string>;

  constructor(name: string, args: HetznerSnapshotArgs, opts?: pulumi.CustomResourceOptions) {
    super(type, name, args, opts);
  }
}
