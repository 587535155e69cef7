// The pods of a node whose kubelet gets another version: they are as healthy afterwards as they were before.
import { SluiceError } from "../../errors/sluiceError.ts";
import type { Pod } from "../../kubernetes/objects.ts";
import { podReason } from "../../kubernetes/podReason.ts";
import type { NodeContext } from "../../talos/access/nodeAccess.ts";
import { poll } from "../../waiting/poll.ts";
import type { ClusterAccess } from "./clusterAccess.ts";

/** The most pods that are named. */
const most = 3;

/** The uids of the pods on a node that are ready. Static pods have a proof of their own. */
export async function readyPods(
  node: string,
  cluster: ClusterAccess,
  context: NodeContext,
): Promise<ReadonlySet<string>> {
  const pods = await podsOn(node, cluster, context);
  return new Set(pods.filter((pod) => podReason(pod, []) === undefined).map(({ metadata }) => metadata.uid ?? ""));
}

/** Resolves when those of these pods that still exist are ready. */
export async function podsRecover(
  node: string,
  before: ReadonlySet<string>,
  { cluster, until }: { readonly cluster: ClusterAccess; readonly until: number },
  context: NodeContext,
): Promise<void> {
  const look = async () => {
    const faults = (await podsOn(node, cluster, context)).flatMap((pod) => {
      const isOver =
        pod.metadata.deletionTimestamp !== undefined || /^(Succeeded|Failed)$/.test(pod.status?.phase ?? "");
      const why = isOver || !before.has(pod.metadata.uid ?? "") ? undefined : podReason(pod, []);
      return why === undefined ? [] : [why.reason];
    });
    if (faults.length === 0) return { found: true };
    const shown = faults.slice(0, most).join("; ");
    context.report(`waits until its pods are ready again: ${shown}`);
    return {
      late: new SluiceError({ code: "SLU-K305", seen: `pods that were ready before are not ready again: ${shown}` }),
    };
  };
  await poll(look, { ...context, until: () => until });
}

async function podsOn(node: string, cluster: ClusterAccess, context: NodeContext): Promise<readonly Pod[]> {
  const pods = await cluster.list<Pod>(`/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`, context);
  return pods.filter(({ metadata }) => metadata.annotations?.["kubernetes.io/config.mirror"] === undefined);
}
