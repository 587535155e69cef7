// Cordons a node for an upgrade so that it is known later who did: what a user has cordoned stays cordoned.
import type { KubernetesObjects } from "../kubernetes/kubernetesObjects.ts";
import type { KubernetesNode } from "../kubernetes/objects.ts";

const annotation = "sluice/cordoned-for";
const value = "upgrade";

/** Whether Sluice has cordoned it. */
export function isOwnCordon({ metadata, spec }: KubernetesNode): boolean {
  return spec?.unschedulable === true && metadata.annotations?.[annotation] === value;
}

/** Whose cordon keeps new pods off the node; "missing" if there is no such Node object. */
export type Cordon = "own" | "other" | "missing";

export async function cordonForUpgrade(objects: KubernetesObjects, node: string): Promise<Cordon> {
  const found = await objects.get<KubernetesNode>(path(node));
  if (found === undefined) return "missing";
  if (found.spec?.unschedulable) return isOwnCordon(found) ? "own" : "other";
  // Refused if the Node has changed meanwhile: another user may just have cordoned it.
  const { resourceVersion } = found.metadata;
  await objects.patch(path(node), {
    metadata: { annotations: { [annotation]: value }, resourceVersion },
    spec: { unschedulable: true },
  });
  return "own";
}

/** Does nothing if another user has cordoned it, or nobody. */
export async function endOwnCordon(objects: KubernetesObjects, node: string): Promise<void> {
  const found = await objects.get<KubernetesNode>(path(node));
  if (found === undefined || !isOwnCordon(found)) return;
  await objects.patch(path(node), { metadata: { annotations: { [annotation]: null } }, spec: { unschedulable: null } });
}

function path(node: string): string {
  return `/api/v1/nodes/${node}`;
}
