// Where the machines come from. Nothing behind this file knows which platform it is.
import type * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../components/machines/machine.ts";
import type { HcloudSecretArgs } from "../components/platform/hcloudSecret.ts";
import type { ProxmoxCsiAccount } from "../components/platform/proxmoxCsi.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import type { ConfigPatch } from "../components/talos/machineInput.ts";
import { deployExisting } from "./existing.ts";
import { deployHetzner } from "./hetzner.ts";
import { deployProxmox } from "./proxmox.ts";
import type { ClusterConfig } from "./schema.ts";

/** What the chain goes on with, whatever the platform. */
export interface PlatformMachines {
  /** In the order of the nodes. */
  readonly machines: readonly Machine[];
  /** What the stage after this waits for. */
  readonly ready: readonly pulumi.Resource[];
  /** Host by which the Kubernetes API is reached from here. What nodes call it by is told offline: `controlPlaneEndpoint`. */
  readonly endpoint: pulumi.Output<string>;
  /** Patches of a node's machine config that hold what is known once the machine is there, by the node's name. */
  readonly patches: Readonly<Record<string, pulumi.Output<readonly ConfigPatch[]>>>;
  /** Says what becomes of the machines when the cluster goes, where they outlive it. */
  readonly release?: (credentials: pulumi.Output<TalosCredentials>) => pulumi.Resource;
  /** What the programs of the Hetzner Cloud in the cluster need. */
  readonly hcloud?: HcloudSecretArgs;
  /** What the driver for volumes on Proxmox needs, where there is to be one. */
  readonly proxmoxCsi?: ProxmoxCsiAccount;
}

const platforms: Readonly<Record<ClusterConfig["platform"], (config: ClusterConfig) => PlatformMachines>> = {
  hetzner: deployHetzner,
  proxmox: deployProxmox,
  existing: deployExisting,
};

export function deployMachines(config: ClusterConfig): PlatformMachines {
  return platforms[config.platform](config);
}
