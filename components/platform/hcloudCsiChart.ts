// Separate from its component: the commands read an environment's config, whose rules name it, without loading an SDK.
import type { Chart } from "./chartRelease.ts";

export const hcloudCsiChart: Chart = {
  name: "hcloud-csi",
  repository: "https://charts.hetzner.cloud",
  release: "hcloud-csi",
  namespace: "kube-system",
};
