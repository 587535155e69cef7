import { stringify } from "yaml";
import type { Role } from "../machines/node.ts";
import type { ConfigPatch, MachineConfigInput, MachineNode } from "./machineInput.ts";
import { apiServerPatches } from "./patches/apiServer.ts";
import { ciliumHostDNSPatches } from "./patches/ciliumHostDNS.ts";
import { cloudProviderPatches } from "./patches/cloudProvider.ts";
import { clusterNetworkPatches } from "./patches/clusterNetwork.ts";
import { etcdPatches } from "./patches/etcd.ts";
import { hostDNSPatches } from "./patches/hostDNS.ts";
import { hostnamePatches } from "./patches/hostname.ts";
import { installPatches } from "./patches/install.ts";
import { interfacesPatches } from "./patches/interfaces.ts";
import { kernelLogsPatches } from "./patches/kernelLogs.ts";
import { kubeletPatches } from "./patches/kubelet.ts";
import { labelsAndTaintsPatches } from "./patches/labelsAndTaints.ts";
import { linksPatches } from "./patches/links.ts";
import { resolversPatches } from "./patches/resolvers.ts";
import { schedulingPatches } from "./patches/scheduling.ts";
import { serviceLogsPatches } from "./patches/serviceLogs.ts";
import { tailscalePatches } from "./patches/tailscale.ts";
import { userPatches } from "./patches/userPatches.ts";
import { vipPatches } from "./patches/vip.ts";
import { talosContract } from "./versions.ts";

/** Every patch, in the order of application: a later one wins, so the person's own come last. */
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
  serviceLogsPatches,
  kernelLogsPatches,
  tailscalePatches,
  (_, { platformPatches }) => platformPatches ?? [],
  userPatches,
];

/** The patches of one node as YAML texts, one patch or config document each. Secret as soon as the cluster has secret patches, or a key for its tailnet. */
export function nodePatches(input: MachineConfigInput, node: MachineNode): readonly string[] {
  // Talos reads words such as `off` the way YAML 1.1 does, so they are quoted that way; a long line is a value and stays one.
  return patches
    .flatMap((patch) => patch(input, node))
    .map((patch) => stringify(patch, { version: "1.1", lineWidth: 0 }));
}

/** What `talos.machine.getConfiguration` takes, but for the machine secrets. */
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
    // The generator uses the minor only. It is named, so that a new patch release of Talos changes no config but by the installer.
    talosVersion: talosContract(input.talosVersion),
    kubernetesVersion: input.kubernetesVersion,
    docs: false,
    examples: false,
    configPatches: [...nodePatches(input, node)],
  };
}
