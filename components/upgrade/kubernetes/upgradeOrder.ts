// The order in which kubelets get another version, once all API servers run it.
import type { Role } from "../../model/role.ts";
import { laneCount, type Parallel } from "../../talos/nodes/lanes.ts";
import type { UpgradeStep } from "../talos/upgradeOrder.ts";

/** Control planes one at a time, in the order of the environment; then one worker, the canary; then the others in lanes. */
export function kubeletSteps<Node extends { readonly node: { readonly role: Role } }>(
  nodes: readonly Node[],
  parallel: Parallel,
): readonly UpgradeStep<Node>[] {
  const controlPlanes = nodes.filter(({ node }) => node.role === "controlplane");
  const [canary, ...workers] = nodes.filter(({ node }) => node.role === "worker");
  const steps = [
    { nodes: controlPlanes, lanes: 1 },
    { nodes: canary === undefined ? [] : [canary], lanes: 1 },
    { nodes: workers, lanes: laneCount(parallel, workers.length) },
  ];
  return steps.filter((step) => step.nodes.length > 0);
}
