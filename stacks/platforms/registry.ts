// The platforms that an environment can choose. Nothing else lists them, except components/machines/platforms.ts for providers of resources.
import { existing } from "./existing.ts";
import { hetzner } from "./hetzner.ts";
import type { Platform } from "./platform.ts";
import { proxmox } from "./proxmox.ts";

export const platforms = [hetzner, proxmox, existing] as const satisfies readonly Platform[];

/** The same, by their common type. */
export const allPlatforms: readonly Platform[] = platforms;
