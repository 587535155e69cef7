import type { PlatformTraits } from "../../model/platformTraits.ts";
import type { ImageSettings, InstallSettings } from "../../model/settings/image.ts";
import type { MachineSettings } from "../../model/settings/machine.ts";
import type { NetworkSettings, TailscaleSettings } from "../../model/settings/network.ts";
import type { NodeSettings } from "../../model/settings/node.ts";
import type { PatchSettings } from "../../model/settings/patch.ts";

/** A part of a machine config that is merged into it, or a separate config document (with `kind`). */
export type ConfigPatch = Readonly<Record<string, unknown>>;

/** What the machine config of a node depends on besides the cluster. */
export interface MachineNode
  extends Pick<NodeSettings, "name" | "role" | "address" | "mac" | "install" | "labels" | "taints"> {
  /** Patches with values that the platform reports only once the machine exists. */
  readonly platformPatches?: readonly ConfigPatch[] | undefined;
}

/** What the machine configs of a cluster depend on: the settings of the environment, and what is derived from them. */
export interface MachineConfigInput {
  readonly clusterName: string;
  readonly platform: PlatformTraits;
  /** What the nodes run: the version of the installer. */
  readonly talosVersion: string;
  /** What the configs are written for, such as `v1.13`: fields or documents, and the generator's defaults. */
  readonly contract: string;
  readonly kubernetesVersion: string;
  /** Host name or address of the Kubernetes API, without scheme and port. */
  readonly endpoint: string;
  /** The conditions that a user's own patch may name in `when`. */
  readonly switches: Readonly<Record<string, boolean>>;
  readonly nodes: readonly Pick<NodeSettings, "name" | "role">[];
  readonly network: NetworkSettings;
  readonly image: ImageSettings;
  readonly install: InstallSettings;
  readonly machine: MachineSettings;
  /** Whether a cloud controller reports to Kubernetes which machine a node is. */
  readonly hasCloudController: boolean;
  /** Pods that may call Talos' API, if there are any. */
  readonly podAccess?: { readonly namespace: string; readonly role: string } | undefined;
  readonly tailscale: TailscaleSettings;
  /** Secret. */
  readonly tailscaleAuthKey?: string | undefined;
  readonly patches: readonly PatchSettings[];
  readonly secretPatches: readonly PatchSettings[];
}
