import type * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../components/model/machine.ts";
import type { TalosCredentials } from "../../components/talos/client/talosClient.ts";
import type { ConfigPatch } from "../../components/talos/config/machineInput.ts";
import type { AccountToken } from "./accountToken.ts";
import type { FoundMachines } from "./foundMachines.ts";

/** What the engine creates on a platform for one environment. */
export interface PlatformResources {
  /** The token of the account that machines are created with, if there is one. */
  readonly token?: AccountToken;
  createMachines(args: CreateMachinesArgs): PlatformMachines;
  /** For a cluster that is adopted: the same components and providers, with the found machines in place of those that would be created. */
  adoptMachines?(found: FoundMachines): AdoptedMachines;
}

export interface AdoptedMachines {
  readonly platform: PlatformMachines;
  /** By which the found resources are imported; undefined if the platform has none. */
  readonly provider?: pulumi.ProviderResource | undefined;
}

export interface CreateMachinesArgs {
  /** Refuses what etcd would not survive; comes before every machine. */
  readonly guard: pulumi.Resource;
  /** The machines' credentials, for when the cluster is destroyed. */
  readonly credentials: pulumi.Output<TalosCredentials>;
  /** Whether the cluster gets volumes. */
  readonly hasVolumes: boolean;
}

/** What the chain continues with on every platform. */
export interface PlatformMachines {
  /** In the order of the nodes. */
  readonly machines: readonly Machine[];
  /** What the gate Preflight waits for. */
  readonly ready: readonly pulumi.Resource[];
  /** A public address that serves the Kubernetes API for all control planes. */
  readonly publicAddress?: pulumi.Output<string> | undefined;
  /** Patches of a node's machine config with values that are known only once the machine exists, by node name. */
  readonly patches: Readonly<Record<string, pulumi.Output<readonly ConfigPatch[]>>>;
  /** How the cloud's controllers in the cluster reach the cloud. Installed before the first of them. */
  readonly cloudAccount?: ClusterSoftware | undefined;
  /** The controller that reports to Kubernetes which machine each node is, if there is one. */
  readonly cloudController?: CloudController | undefined;
  /** The driver for volumes, if the cluster gets volumes. */
  readonly volumes?: ProvenSoftware | undefined;
}

/** Software that a platform installs into the cluster. */
export interface ClusterSoftware {
  /** Its resource's name, after the cluster's name. */
  readonly name: string;
  install(name: string, opts: pulumi.ComponentResourceOptions): pulumi.Resource;
}

/** The same for software that a gate proves. */
export interface ProvenSoftware extends ClusterSoftware {
  /** Versions and hashes of what is installed: when one changes, its gate runs again. */
  readonly triggers: readonly pulumi.Input<string>[];
  /** The same for secrets. */
  readonly secrets: readonly pulumi.Input<unknown>[];
  /** Whether the secrets in the state are kept, because the given ones are placeholders. */
  readonly keepsSecrets: boolean;
}

export interface CloudController extends ProvenSoftware {
  /** The controller's Deployment. */
  readonly deployment: string;
  /** Labels that every node has once the controller has initialized it. */
  readonly labels: readonly string[];
}
