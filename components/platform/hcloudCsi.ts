import * as pulumi from "@pulumi/pulumi";
import { type ChartArgs, chartRelease } from "./chartRelease.ts";
import { hcloudCsiChart } from "./hcloudCsiChart.ts";

/** Volumes of the Hetzner Cloud, storage class `hcloud-volumes`. It reads the token from the Secret `hcloud`. */
export class HcloudCsi extends pulumi.ComponentResource {
  constructor(name: string, args: ChartArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:HcloudCsi", name, {}, opts);
    chartRelease(`${name}-release`, hcloudCsiChart, { ...args, values: {} }, { parent: this });
    this.registerOutputs();
  }
}
