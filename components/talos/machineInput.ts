import type { Role } from "../machines/node.ts";

/** A part of a machine config that is merged into it, or a config document of its own (with `kind`). */
export type ConfigPatch = Readonly<Record<string, unknown>>;

/** A patch of the person's own. */
export interface UserPatch {
  readonly name: string;
  /** The switch in `MachineConfigInput.switches` that must be on. */
  readonly when?: string | undefined;
  readonly role?: Role | undefined;
  readonly nodes?: readonly string[] | undefined;
  readonly patch: ConfigPatch;
}

/** Selects the install disk by what it is; all given keys must match. */
export interface DiskSelector {
  readonly model?: string | undefined;
  readonly serial?: string | undefined;
  readonly wwid?: string | undefined;
  readonly busPath?: string | undefined;
  readonly type?: "hdd" | "ssd" | "nvme" | "sd" | undefined;
  readonly size?: string | undefined;
}

/** What the machine config of one node depends on beside the cluster. */
export interface MachineNode {
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  /** MAC address of the NIC that bears `address`, lower case. Without it the NIC cannot be named in the config. */
  readonly mac?: string | undefined;
  /** Overrides the cluster's disk. */
  readonly install?:
    | { readonly disk?: string | undefined; readonly diskSelector?: DiskSelector | undefined }
    | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** `key: "value:Effect"`. */
  readonly taints: Readonly<Record<string, string>>;
  /** What its platform tells only when the machine is there. */
  readonly platformPatches?: readonly ConfigPatch[] | undefined;
}

/** What the machine configs of a cluster depend on: the cluster's own config, its endpoint worked out, and the switches. */
export interface MachineConfigInput {
  readonly clusterName: string;
  readonly platform: "hetzner" | "proxmox" | "existing";
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  /** Host name or address of the Kubernetes API, without scheme and port. */
  readonly endpoint: string;
  /** Conditions that `UserPatch.when` may name. */
  readonly switches: Readonly<Record<string, boolean>>;
  readonly nodes: readonly { readonly name: string; readonly role: Role }[];
  readonly network: {
    readonly nodeCidr: string;
    readonly gateway?: string | undefined;
    readonly vip?: string | undefined;
    readonly vipBy: "talos" | "kube-vip";
    readonly podCidr: string;
    readonly serviceCidr: string;
    readonly dnsDomain: string;
    readonly nameservers: readonly string[];
    readonly disableSearchDomain: boolean;
    readonly addressing: "dhcp" | "meta" | "nocloud";
    readonly vlan?: { readonly tag: number; readonly mode: "access" | "trunk" } | undefined;
  };
  readonly image: {
    readonly extensions: readonly string[];
    readonly kernelArgs: readonly string[];
    readonly secureBoot: boolean;
    readonly factory: string;
  };
  readonly install: {
    readonly disk?: string | undefined;
    readonly diskSelector?: DiskSelector | undefined;
    readonly wipe: boolean;
    readonly extraKernelArgs: readonly string[];
    readonly grubUseUKICmdline?: boolean | undefined;
  };
  readonly machine: {
    readonly hostDNS: {
      readonly enabled: boolean;
      readonly forwardKubeDNSToHost: boolean;
      readonly resolveMemberNames: boolean;
    };
    readonly kubelet: {
      readonly featureGates: Readonly<Record<string, boolean>>;
      readonly serializeImagePulls: boolean;
    };
    readonly apiServer: {
      readonly aggregatorRouting: boolean;
      readonly featureGates?: Readonly<Record<string, boolean>> | undefined;
      readonly certSANs: readonly string[];
    };
    readonly ciliumHostDNS?: boolean | undefined;
    readonly scheduleOnControlPlanes?: boolean | undefined;
    readonly logShipping: { readonly enabled: boolean; readonly services: string; readonly kernel: string };
  };
  /** Only on Hetzner. */
  readonly hetzner?: { readonly cloudControllerManager: { readonly enabled: boolean } } | undefined;
  readonly tailscale: {
    readonly enabled: boolean;
    readonly loginServer?: string | undefined;
    readonly hostname: string;
    readonly routes: readonly string[];
    readonly extraArgs: readonly string[];
  };
  /** Secret. */
  readonly tailscaleAuthKey?: string | undefined;
  readonly patches: readonly UserPatch[];
  readonly secretPatches: readonly UserPatch[];
}
