import type { VolumeProbe } from "../../components/kubernetes/volumeProbe.ts";
import type { Chart } from "../../components/platform/chartRelease.ts";

/** A driver for volumes, and how it is proven to work. */
export interface VolumeDriver {
  readonly chart: Chart;
  /** Version of the chart, unless the environment sets another. */
  readonly version: string;
  /** The driver's own name. */
  readonly driver: string;
  /** The Deployment that creates volumes. */
  readonly controller: string;
  /** The DaemonSet that mounts them. */
  readonly nodePlugin: string;
  /** The smallest possible volume. */
  readonly probe: Omit<VolumeProbe, "image">;
}
