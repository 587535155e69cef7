import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";
import { featureGatesArgument } from "./featureGates.ts";

export function apiServerPatches(
  { endpoint, network, machine }: MachineConfigInput,
  { role }: MachineNode,
): readonly ConfigPatch[] {
  if (role !== "controlplane") {
    return [];
  }
  const extraArgs = {
    ...(machine.apiServer.aggregatorRouting && { "enable-aggregator-routing": "true" }),
    ...featureGatesArgument(machine.apiServer.featureGates ?? machine.kubelet.featureGates),
  };
  // The generator and Talos add the endpoint and the node's own addresses. The VIP is named here, because only the node that holds it would know it.
  const names = new Set([network.vip, ...machine.apiServer.certSANs]);
  const certSANs = [...names].filter((name) => name !== undefined && name !== endpoint);

  const apiServer = {
    ...(Object.keys(extraArgs).length > 0 && { extraArgs }),
    ...(certSANs.length > 0 && { certSANs }),
  };
  return Object.keys(apiServer).length === 0 ? [] : [{ cluster: { apiServer } }];
}
