// Apart from its component: the commands read an environment's config, whose rules name it, and need no SDK for that.
import type { Chart } from "./chartRelease.ts";

export const hcloudCsiChart: Chart = {
  name: "hcloud-csi",
  repository: "https://charts.hetzner.cloud",
  release: "hcloud-csi",
  namespace: "kube-system",
};
