// What a lab must have for an environment: the platform as its owner has set it up before anything of this program ran.
import type { ClusterConfig } from "../../stacks/schema.ts";
import { type LabMachine, machinesFor } from "./machinesFor.ts";
import { type LabProxmox, proxmoxFor } from "./proxmoxFor.ts";
import { snapshotFor } from "./snapshotFor.ts";
import type { LabSnapshot } from "./snapshots.ts";

/** As `sluice-lab up --needs` reads it. */
export interface LabPlatform {
  /** What servers of Hetzner start from. */
  readonly snapshots?: readonly LabSnapshot[];
  readonly proxmox?: LabProxmox;
  /** Machines that are already there. */
  readonly machines?: readonly LabMachine[];
}

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
