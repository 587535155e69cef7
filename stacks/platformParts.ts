// Which parts of the platform an environment has.
import type { ClusterConfig } from "./schema.ts";
import { volumeDriver } from "./volumeDrivers.ts";

export function hasCloudControllerManager({ hetzner }: Pick<ClusterConfig, "hetzner">): boolean {
  return hetzner?.cloudControllerManager.enabled ?? false;
}

export function hasCsi({ platform, csi }: Pick<ClusterConfig, "platform" | "csi">): boolean {
  return volumeDriver({ platform }) !== undefined && (csi.enabled ?? true);
}

export function hasFlux({ flux }: Pick<ClusterConfig, "flux">): boolean {
  return flux.url !== undefined && (flux.enabled ?? true);
}
