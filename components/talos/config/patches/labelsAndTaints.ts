import type { ConfigPatch, MachineConfigInput, MachineNode } from "../machineInput.ts";

export function labelsAndTaintsPatches(_input: MachineConfigInput, node: MachineNode): readonly ConfigPatch[] {
  return [...labels(node), ...taints(node)];
}

function labels({ labels }: MachineNode): readonly ConfigPatch[] {
  return Object.keys(labels).length === 0 ? [] : [{ machine: { nodeLabels: labels } }];
}

/**
 * On a worker Talos writes labels and taints with the kubelet's rights, which may not change taints (NodeRestriction): the taints would fail,
 * and the labels, in the same call, with them. So a worker's kubelet registers with its taints.
 */
function taints({ role, taints }: MachineNode): readonly ConfigPatch[] {
  if (Object.keys(taints).length === 0) {
    return [];
  }
  return role === "controlplane"
    ? [{ machine: { nodeTaints: taints } }]
    : [{ machine: { kubelet: { extraConfig: { registerWithTaints: Object.entries(taints).map(toTaint) } } } }];
}

function toTaint([key, valueAndEffect]: readonly [string, string]) {
  const [value = "", effect = ""] = valueAndEffect.split(":");
  return { key, ...(value !== "" && { value }), effect };
}
