// The platforms in which providers of resources look up machines, by the name in the state. The platforms that environments can choose are in
// stacks/platforms/registry.ts.
import type { MachinePlatform } from "../lifecycle/machinePlatform.ts";
import { existingPlatform } from "./existing/existingPlatform.ts";
import { hetznerPlatform } from "./hetzner/hetznerPlatform.ts";
import { proxmoxPlatform } from "./proxmox/proxmoxPlatform.ts";

export const machinePlatforms: readonly MachinePlatform[] = [hetznerPlatform, proxmoxPlatform, existingPlatform];
