import { addressPlan } from "../components/network/addressPlan.ts";
import { controlPlaneEndpoint } from "../components/network/endpoint.ts";
import type { MachineConfigInput, MachineNode } from "../components/talos/machineInput.ts";
import { switchStates } from "./rules/switches.ts";
import type { ClusterConfig } from "./schema.ts";

/** What the machine configs of all nodes are made from. */
export function machineConfigInput(config: ClusterConfig): MachineConfigInput {
  return { ...config, endpoint: controlPlaneEndpoint(config), switches: switchStates(config) };
}

/** The nodes with what the address plan adds to their entries. */
export function machineNodes(config: ClusterConfig): MachineNode[] {
  const macs = new Map(addressPlan(config).map(({ name, mac }) => [name, mac]));
  return config.nodes.map((node) => ({ ...node, mac: macs.get(node.name) }));
}
