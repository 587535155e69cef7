import { isAtLeast } from "./versions.ts";

/**
 * The image of pods' sandboxes, which every node has. It is containerd's own default (DefaultSandboxImage in its internal/cri/config, and in
 * siderolabs/talos pkg/images): Talos 1.11 and 1.12 have containerd 2.1, 1.13 has 2.2, 1.14 has 2.3.
 */
export function sandboxImage(talosVersion: string): string {
  if (isAtLeast(talosVersion, 14)) return "registry.k8s.io/pause:3.10.2";
  return `registry.k8s.io/pause:${isAtLeast(talosVersion, 13) ? "3.10.1" : "3.10"}`;
}
