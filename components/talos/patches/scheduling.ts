import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

/** Lets pods run on control planes, by default where there is no other node. */
export function schedulingPatches(
  { machine, nodes }: MachineConfigInput,
  { role }: MachineNode,
): readonly ConfigPatch[] {
  const scheduled = machine.scheduleOnControlPlanes ?? nodes.every((node) => node.role === "controlplane");
  if (role !== "controlplane" || !scheduled) {
    return [];
  }
  return [
    {
      machine: {
        // The generator takes control planes out of load balancers; where they run the pods they are what a balancer has to reach.
        nodeLabels: { "node.kubernetes.io/exclude-from-external-load-balancers": { $patch: "delete" } },
      },
      cluster: { allowSchedulingOnControlPlanes: true },
    },
  ];
}
