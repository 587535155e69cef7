import { findEndpoint } from "../../../components/network/endpoint.ts";
import type { MachineConfigInput, MachineNode } from "../../../components/talos/config/machineInput.ts";
import { newContract } from "../../../components/talos/config/versions.ts";
import { podAccess } from "../../../stacks/machineConfigInput.ts";
import { type ClusterConfig, clusterConfigSchema } from "../../../stacks/schema/clusterConfig.ts";

export const talosVersions = ["1.11.6", "1.12.6", "1.13.8", "1.14.1"] as const;
/** Those that use config documents where 1.11 has fields in `machine.network`. */
export const documentVersions = ["1.12.6", "1.13.8", "1.14.1"] as const;

const nodes = [
  { name: "cp-1", role: "controlplane", address: "10.0.0.11", mac: "02:00:00:00:00:0b" },
  { name: "cp-2", role: "controlplane", address: "10.0.0.12", mac: "02:00:00:00:00:0c" },
  { name: "cp-3", role: "controlplane", address: "10.0.0.13", mac: "02:00:00:00:00:0d" },
  { name: "w-1", role: "worker", address: "10.0.0.21", mac: "02:00:00:00:00:15" },
];

/** A cluster parsed by the real schema, so with its real defaults; that it compiles says that a parsed config is what the components take. */
export function machineInput(talosVersion: string, config: Readonly<Record<string, unknown>> = {}): MachineConfigInput {
  const { network, ...rest } = config;
  const read = clusterConfigSchema.parse({
    clusterName: "home",
    platform: "proxmox",
    talosVersion,
    kubernetesVersion: "1.34.2",
    nodes,
    ...rest,
    network: { nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1", ...(network as object | undefined) },
  });
  const parsed: Omit<ClusterConfig, "settings"> = read;
  return {
    ...parsed,
    contract: newContract(parsed),
    endpoint: findEndpoint({ ...parsed, loadBalancer: parsed.hetzner?.loadBalancer?.address }) ?? "10.0.0.11",
    hasCloudController: parsed.hetzner?.cloudControllerManager.enabled ?? false,
    switches: { logShipping: parsed.machine.logShipping.enabled },
    podAccess: podAccess(parsed),
  };
}

/** A node by its name, with the properties that a platform adds. */
export function machineNode(input: MachineConfigInput, name: string, changes: Partial<MachineNode> = {}): MachineNode {
  const found = input.nodes.find((node) => node.name === name) as MachineNode | undefined;
  if (found === undefined) {
    throw new Error(`the test cluster has no node '${name}'`);
  }
  return { ...found, ...changes };
}
