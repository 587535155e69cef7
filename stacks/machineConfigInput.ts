import { backupNamespace, backupRole } from "../components/backup/inClusterNames.ts";
import { addressPlan } from "../components/network/addressPlan.ts";
import { controlPlaneEndpoint } from "../components/network/endpoint.ts";
import type { MachineConfigInput, MachineNode } from "../components/talos/config/machineInput.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import { switchStates } from "./schema/switches.ts";

/** The input of the machine configs of all nodes, without the contract: the state knows that. */
export function machineConfigInput(config: ClusterConfig): Omit<MachineConfigInput, "contract"> {
  const { platform, settings } = config;
  return {
    ...config,
    endpoint: nodeEndpoint(config),
    switches: switchStates(config),
    hasCloudController: platform.hasCloudController(settings),
    podAccess: podAccess(config),
  };
}

/** Scheduled backups are taken by a pod, which asks Talos for the snapshot. */
export function podAccess({ backup: { schedule } }: Pick<ClusterConfig, "backup">): MachineConfigInput["podAccess"] {
  return schedule === undefined ? undefined : { namespace: backupNamespace, role: backupRole };
}

/** The host by which nodes reach the Kubernetes API. */
export function nodeEndpoint(config: ClusterConfig): string {
  const { platform, settings } = config;
  return controlPlaneEndpoint({ ...config, loadBalancer: platform.loadBalancer?.(settings)?.value });
}

/** The nodes with their MACs from the address plan. */
export function machineNodes(config: ClusterConfig): MachineNode[] {
  const macs = new Map(addressPlan(config).map(({ name, mac }) => [name, mac]));
  return config.nodes.map((node) => ({ ...node, mac: macs.get(node.name) }));
}
