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
  /** What the programs of the Hetzner Cloud in the cluster need. */
  readonly hcloud?: HcloudSecretArgs;
  /** What the driver for volumes on Proxmox needs, where there is to be one. */
  readonly proxmoxCsi?: ProxmoxCsiAccount;
}

type Deploy = (config: ClusterConfig, credentials: pulumi.Output<TalosCredentials>) => PlatformMachines;

const platforms: Readonly<Record<ClusterConfig["platform"], Deploy>> = {
  hetzner: deployHetzner,
  proxmox: deployProxmox,
  existing: deployExisting,
};

/** `credentials` are for those who ask a living cluster what may be done to its machines, and for what becomes of them in the end. */
export const deployMachines: Deploy = (config, credentials) => platforms[config.platform](config, credentials);
