// Apart from its component: the commands read an environment's config, whose rules name it, and need no SDK for that.
import type { Chart } from "./chartRelease.ts";

export const proxmoxCsiChart: Chart = {
  name: "proxmox-csi-plugin",
  repository: "oci://ghcr.io/sergelogvinov/charts",
  release: "proxmox-csi-plugin",
  // Talos lets pods of this namespace do what mounting takes.
  namespace: "kube-system",
};

export const proxmoxStorageClass = "proxmox-volumes";
