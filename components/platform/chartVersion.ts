import type * as pulumi from "@pulumi/pulumi";
import { CheckoutResource } from "../engine/checkoutResource.ts";

export interface ChartVersionArgs {
  /** Name of the chart. */
  readonly chart: string;
  /** The version that is to be installed. */
  readonly version: string;
  /** The key of the environment that sets it. */
  readonly key: string;
  /** The value of the chart with which a release keeps the defaults of the version that it was installed with, if the environment sets it. */
  readonly upgradeCompatibility?: string | undefined;
}

/**
 * Remembers the version of a chart whose publisher supports upgrades by one minor version only. Another step is refused in the preview, and before the release
 * is changed.
 */
export class ChartVersion extends CheckoutResource {
  constructor(name: string, args: ChartVersionArgs, opts: pulumi.CustomResourceOptions) {
    super({ url: import.meta.url, module: "platform", name: "ChartVersion" }, name, { ...args }, opts);
  }
}
