// Separate from its component: the commands read an environment's config, whose rules name it, without loading an SDK.
import type { Chart } from "./chartRelease.ts";

export const proxmoxCsiChart: Chart = {
  name: "proxmox-csi-plugin",
  repository: "oci://ghcr.io/sergelogvinov/charts",
  release: "proxmox-csi-plugin",
  // Talos allows pods of this namespace what mounting needs.
  namespace: "kube-system",
};

export const proxmoxStorageClass = "proxmox-volumes";
