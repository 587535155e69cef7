// What design.md and requirements.md say the program will take from the SDKs, beside what it takes already. Types only:
// nothing is loaded, and a name that an SDK has not is refused by `tsc`.
import type * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import type * as command from "@pulumi/command";
import type * as hcloud from "@pulumi/hcloud";
import type * as kubernetes from "@pulumi/kubernetes";
import type * as talos from "@pulumiverse/talos";

export type Planned = [
  typeof talos.Provider,
  // Hetzner servers from snapshots (S0), with network, firewall and load balancer (S1).
  typeof hcloud.Provider,
  typeof hcloud.Server,
  typeof hcloud.ServerNetwork,
  typeof hcloud.Network,
  typeof hcloud.NetworkSubnet,
  typeof hcloud.NetworkRoute,
  typeof hcloud.PlacementGroup,
  typeof hcloud.Firewall,
  typeof hcloud.FirewallAttachment,
  typeof hcloud.LoadBalancer,
  typeof hcloud.LoadBalancerNetwork,
  typeof hcloud.LoadBalancerService,
  typeof hcloud.LoadBalancerTarget,
  typeof hcloud.SshKey,
  typeof hcloud.Snapshot,
  typeof hcloud.PrimaryIp,
  typeof hcloud.FloatingIp,
  typeof hcloud.FloatingIpAssignment,
  typeof hcloud.Volume,
  typeof hcloud.VolumeAttachment,
  typeof hcloud.Rdns,
  // Proxmox VMs (S2.5, S4), and the account that the CSI driver works under.
  typeof proxmoxve.Provider,
  typeof proxmoxve.VmLegacy,
  typeof proxmoxve.FileLegacy,
  typeof proxmoxve.download.File,
  typeof proxmoxve.download.FileLegacy,
  typeof proxmoxve.PoolLegacy,
  typeof proxmoxve.RoleLegacy,
  typeof proxmoxve.UserLegacy,
  typeof proxmoxve.user.Token,
  typeof proxmoxve.Acl,
  typeof proxmoxve.AclLegacy,
  // What is put into the cluster before Flux takes over (S3, S4.6).
  typeof kubernetes.Provider,
  typeof kubernetes.core.v1.Namespace,
  typeof kubernetes.core.v1.Secret,
  typeof kubernetes.core.v1.ConfigMap,
  typeof kubernetes.core.v1.ServiceAccount,
  typeof kubernetes.rbac.v1.ClusterRole,
  typeof kubernetes.rbac.v1.ClusterRoleBinding,
  typeof kubernetes.storage.v1.StorageClass,
  typeof kubernetes.apiextensions.CustomResource,
  typeof kubernetes.apiextensions.v1.CustomResourceDefinition,
  typeof kubernetes.helm.v3.Release,
  typeof kubernetes.helm.v4.Chart,
  typeof kubernetes.yaml.v2.ConfigGroup,
  typeof kubernetes.yaml.v2.ConfigFile,
  // Packer, where there is no snapshot yet (S0.1).
  typeof command.Provider,
  typeof command.local.Command,
];
