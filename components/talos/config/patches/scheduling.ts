import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/** Allows pods on control planes. */
export function schedulingPatches(
  { machine, nodes }: MachineConfigInput,
  { role }: MachineNode,
): readonly ConfigPatch[] {
  if (role !== "controlplane" || !isScheduledOnControlPlanes({ machine, nodes })) {
    return [];
  }
  return [
    {
      machine: {
        // The generator excludes control planes from load balancers; if they run the pods, a load balancer must reach them.
        nodeLabels: { "node.kubernetes.io/exclude-from-external-load-balancers": { $patch: "delete" } },
      },
      cluster: { allowSchedulingOnControlPlanes: true },
    },
  ];
}

/** By default if there is no other node. */
export function isScheduledOnControlPlanes({ machine, nodes }: Pick<MachineConfigInput, "machine" | "nodes">): boolean {
  return machine.scheduleOnControlPlanes ?? nodes.every((node) => node.role === "controlplane");
}
