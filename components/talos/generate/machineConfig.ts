import { stringify } from "yaml";
import type { Role } from "../../model/role.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "../config/machineInput.ts";
import { apiServerPatches } from "../config/patches/apiServer.ts";
import { ciliumHostDNSPatches } from "../config/patches/ciliumHostDNS.ts";
import { cloudProviderPatches } from "../config/patches/cloudProvider.ts";
import { clusterNetworkPatches } from "../config/patches/clusterNetwork.ts";
import { etcdPatches } from "../config/patches/etcd.ts";
import { hostDNSPatches } from "../config/patches/hostDNS.ts";
import { hostnamePatches } from "../config/patches/hostname.ts";
import { installPatches } from "../config/patches/install.ts";
import { interfacesPatches } from "../config/patches/interfaces.ts";
import { kernelLogsPatches } from "../config/patches/kernelLogs.ts";
import { kubeletPatches } from "../config/patches/kubelet.ts";
import { labelsAndTaintsPatches } from "../config/patches/labelsAndTaints.ts";
import { linksPatches } from "../config/patches/links.ts";
import { resolversPatches } from "../config/patches/resolvers.ts";
import { schedulingPatches } from "../config/patches/scheduling.ts";
import { serviceLogsPatches } from "../config/patches/serviceLogs.ts";
import { tailscalePatches } from "../config/patches/tailscale.ts";
import { talosApiAccessPatches } from "../config/patches/talosApiAccess.ts";
import { userPatches } from "../config/patches/userPatches.ts";
import { vipPatches } from "../config/patches/vip.ts";

/** Every patch, in the order of application: later ones win, so the user's own come last. */
const patches: readonly ((input: MachineConfigInput, node: MachineNode) => readonly ConfigPatch[])[] = [
  installPatches,
  hostnamePatches,
  linksPatches,
  interfacesPatches,
  vipPatches,
  resolversPatches,
  hostDNSPatches,
  ciliumHostDNSPatches,
  kubeletPatches,
  schedulingPatches,
  labelsAndTaintsPatches,
  clusterNetworkPatches,
  cloudProviderPatches,
  apiServerPatches,
  etcdPatches,
  talosApiAccessPatches,
  serviceLogsPatches,
  kernelLogsPatches,
  tailscalePatches,
  (_, { platformPatches }) => platformPatches ?? [],
  userPatches,
];

/** The patches of one node as YAML texts, one patch or config document each. Secret as soon as the cluster has secret patches, or a key for its tailnet. */
export function nodePatches(input: MachineConfigInput, node: MachineNode): readonly string[] {
  // Talos reads words such as `off` like YAML 1.1, so they are quoted; long lines are values and are not folded. It ignores a `$patch` behind an alias.
  return patches
    .flatMap((patch) => patch(input, node))
    .map((patch) => stringify(patch, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false }));
}

/** The arguments of `talos.machine.getConfiguration`, except the machine secrets. */
export interface MachineConfigurationArgs {
  readonly clusterName: string;
  readonly clusterEndpoint: string;
  readonly machineType: Role;
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly docs: false;
  readonly examples: false;
  readonly configPatches: string[];
}

export function machineConfigurationArgs(input: MachineConfigInput, node: MachineNode): MachineConfigurationArgs {
  return {
    clusterName: input.clusterName,
    clusterEndpoint: `https://${input.endpoint}:6443`,
    machineType: node.role,
    // Not the version that the nodes run: another one changes nothing in configs but the installer.
    talosVersion: input.contract,
    kubernetesVersion: input.kubernetesVersion,
    docs: false,
    examples: false,
    configPatches: [...nodePatches(input, node)],
  };
}
