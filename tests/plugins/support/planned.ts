// What the program is planned to use of the SDKs, besides what it already uses: a test checks that nothing here is already used.
// Types only: nothing is loaded, and `tsc` refuses a name that an SDK does not have.
import type * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import type * as command from "@pulumi/command";
import type * as hcloud from "@pulumi/hcloud";
import type * as kubernetes from "@pulumi/kubernetes";
import type * as talos from "@pulumiverse/talos";

export type Planned = [
  typeof talos.Provider,
  // More of Hetzner than the first cluster needs (S0, S1): separate routes, addresses and volumes.
  typeof hcloud.ServerNetwork,
  typeof hcloud.NetworkRoute,
  typeof hcloud.FirewallAttachment,
  typeof hcloud.SshKey,
  typeof hcloud.Snapshot,
  typeof hcloud.PrimaryIp,
  typeof hcloud.FloatingIp,
  typeof hcloud.FloatingIpAssignment,
  typeof hcloud.Volume,
  typeof hcloud.VolumeAttachment,
  typeof hcloud.Rdns,
  // What else Proxmox may be used for: images that are uploaded, and older forms of what is used.
  typeof proxmoxve.FileLegacy,
  typeof proxmoxve.download.FileLegacy,
  typeof proxmoxve.AclLegacy,
  // What else may be installed into the cluster before Flux takes over (S3, S4.6).
  typeof kubernetes.storage.v1.StorageClass,
  typeof kubernetes.apiextensions.v1.CustomResourceDefinition,
  typeof kubernetes.helm.v4.Chart,
  typeof kubernetes.yaml.v2.ConfigGroup,
  typeof kubernetes.yaml.v2.ConfigFile,
  // Where its plugin needs something other than the default.
  typeof command.Provider,
];
