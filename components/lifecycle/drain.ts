// Removes the pods from a node, as `kubectl drain` does: by evictions, which respect the PodDisruptionBudgets of applications.

import { SluiceError } from "../errors/sluiceError.ts";
import { KubernetesClient } from "../kubernetes/client.ts";
import { KubernetesObjects } from "../kubernetes/kubernetesObjects.ts";
import type { KubernetesObject, Pod } from "../kubernetes/objects.ts";
import { type Seen, watch } from "../kubernetes/watch.ts";
import { count } from "../model/count.ts";
import type { Clock } from "../waiting/clock.ts";
import { Notifier } from "../waiting/notifier.ts";

export interface Drain {
  readonly kubeconfig: string;
  readonly node: string;
  /** Deadline, by the clock. */
  readonly until: number;
  readonly report: (text: string) => void;
  /** Ends the drain. */
  readonly interrupted?: AbortSignal | undefined;
}

/** Delay before a refused eviction is requested again, unless a budget refused it: changes of budgets are watched. */
const retryDelayMs = 2_000;
/** The most pods that are named. */
const most = 5;

/** Keeps new pods off the node. */
export async function cordon({ kubeconfig, node }: Pick<Drain, "kubeconfig" | "node">, clock: Clock): Promise<void> {
  const path = `/api/v1/nodes/${node}`;
  await new KubernetesObjects(kubeconfig, clock).patch(path, { spec: { unschedulable: true } });
}

/** Resolves when only pods that belong to the node itself remain. At the deadline, rejects with the pods that remain, and why. */
export async function drain({ kubeconfig, node, until, report, interrupted }: Drain, clock: Clock): Promise<void> {
  interrupted?.throwIfAborted();
  const ended = new AbortController();
  const end = () => ended.abort();
  const cancelDeadline = clock.after(Math.max(0, until - clock.now()), end);
  interrupted?.addEventListener("abort", end);
  const notifier = new Notifier(ended.signal);
  const client = new KubernetesClient(kubeconfig, clock);
  const objects = new KubernetesObjects(kubeconfig, clock);
  const seen = new Map<string, Seen<KubernetesObject>>();
  const follow = (path: string) => {
    const tell = (now: Seen<KubernetesObject>) => {
      seen.set(path, now);
      notifier.notify();
    };
    void watch(client, { path, report: tell }, ended.signal, clock);
  };
  const pods = `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`;
  let last = "its pods are not known yet";
  try {
    follow(pods);
    // An eviction that a budget forbids may be allowed once the budget has changed.
    follow("/apis/policy/v1/poddisruptionbudgets");
    while (await notifier.next()) {
      const there = seen.get(pods);
      if (there === undefined) continue;
      if (there.kind === "unreachable") {
        last = `the Kubernetes API does not answer: ${there.why}`;
        continue;
      }
      const left = (there.items as readonly Pod[]).filter(isEvicted);
      if (left.length === 0) return;
      const words = await Promise.all(left.map((pod) => evict(objects, pod)));
      last = inWords(words);
      report(`drains ${node}: ${last}`);
      if (words.some(({ isRefused }) => isRefused)) clock.after(retryDelayMs, () => notifier.notify());
    }
    interrupted?.throwIfAborted();
    throw new SluiceError({ code: "SLU-L102", seen: last });
  } finally {
    interrupted?.removeEventListener("abort", end);
    cancelDeadline();
    ended.abort();
  }
}

/** The pods to evict: not static pods, not pods that a DaemonSet would recreate at once, and not completed ones. */
export function isEvicted({ metadata, status }: Pod): boolean {
  if (metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined) return false;
  if (metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet")) return false;
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

interface Left {
  readonly pod: string;
  readonly why: string;
  readonly isRefused: boolean;
}

/** Requests the eviction of a pod, unless it is already terminating. */
async function evict(objects: KubernetesObjects, { metadata }: Pod): Promise<Left> {
  const { name, namespace = "default", uid, deletionTimestamp } = metadata;
  const pod = `${namespace}/${name}`;
  const ends = { pod, why: "ends", isRefused: false };
  if (deletionTimestamp !== undefined) return ends;
  try {
    await objects.evict(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    });
    return ends;
  } catch (error) {
    return { pod, why: (error as Error).message, isRefused: true };
  }
}

function inWords(left: readonly Left[]): string {
  const refused = left.filter(({ isRefused }) => isRefused);
  const shown = (refused.length > 0 ? refused : left).slice(0, most).map(({ pod, why }) => `${pod}: ${why}`);
  return `${count(left.length, "pod")} left; ${shown.join("; ")}`;
}
