import * as pulumi from "@pulumi/pulumi";
import { type Chart, type ChartArgs, chartRelease } from "./chartRelease.ts";

export const hcloudCsiChart: Chart = {
  name: "hcloud-csi",
  repository: "https://charts.hetzner.cloud",
  release: "hcloud-csi",
  namespace: "kube-system",
};

/** Volumes of the Hetzner Cloud, storage class `hcloud-volumes`. It reads the token from the Secret `hcloud`. */
export class HcloudCsi extends pulumi.ComponentResource {
  constructor(name: string, args: ChartArgs, opts: pulumi.ComponentResourceOptions) {
    super("sluice:platform:HcloudCsi", name, {}, opts);
    chartRelease(`${name}-release`, hcloudCsiChart, { ...args, values: {} }, { parent: this });
    this.registerOutputs();
  }
}
