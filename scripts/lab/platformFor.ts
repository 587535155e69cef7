// What a lab must have for an environment: the platform as its owner has set it up before anything of this program ran.
import type { ClusterConfig } from "../../stacks/schema.ts";
import { machinesFor } from "./machinesFor.ts";
import type { LabPlatform } from "./platforms.ts";
import { proxmoxFor } from "./proxmoxFor.ts";
import { snapshotFor } from "./snapshotFor.ts";

export function platformFor(config: ClusterConfig): LabPlatform {
  switch (config.platform) {
    case "hetzner":
      return { snapshots: [snapshotFor(config)] };
    case "proxmox":
      return { proxmox: proxmoxFor(config) };
    case "existing":
      return { machines: machinesFor(config) };
  }
}
