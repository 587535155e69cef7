// The drivers for volumes that are known here, and how each shows that it works.
import type { VolumeProbe } from "../components/kubernetes/volumeProbe.ts";
import type { Chart } from "../components/platform/chartRelease.ts";
import { hcloudCsiChart } from "../components/platform/hcloudCsiChart.ts";
import { proxmoxCsiChart, proxmoxStorageClass } from "../components/platform/proxmoxCsiChart.ts";
import type { ClusterConfig } from "./schema.ts";

export interface VolumeDriver {
  readonly chart: Chart;
  /** Of the chart, where the environment asks for no other. */
  readonly version: string;
  /** As the driver calls itself. */
  readonly driver: string;
  /** The Deployment that makes volumes. */
  readonly controller: string;
  /** The DaemonSet that mounts them. */
  readonly nodePlugin: string;
  /** The smallest volume that there is. */
  readonly probe: Omit<VolumeProbe, "image">;
}

const drivers: Readonly<Partial<Record<ClusterConfig["platform"], VolumeDriver>>> = {
  hetzner: {
    chart: hcloudCsiChart,
    version: "2.19.0",
    driver: "csi.hetzner.cloud",
    controller: "hcloud-csi-controller",
    nodePlugin: "hcloud-csi-node",
    probe: { storageClass: "hcloud-volumes", size: "10Gi" },
  },
  proxmox: {
    chart: proxmoxCsiChart,
    version: "0.5.6",
    driver: "csi.proxmox.sinextra.dev",
    controller: "proxmox-csi-plugin-controller",
    nodePlugin: "proxmox-csi-plugin-node",
    probe: { storageClass: proxmoxStorageClass, size: "1Gi" },
  },
};

/** Undefined where nobody gives volumes: on machines that are there already, whose disks are the person's own. */
export function volumeDriver({ platform }: Pick<ClusterConfig, "platform">): VolumeDriver | undefined {
  return drivers[platform];
}

/** The chart's version that this environment has. */
export function volumeDriverVersion(driver: VolumeDriver, { csi }: Pick<ClusterConfig, "csi">): string {
  return csi.version ?? driver.version;
}
