// Takes the pods off a node, as `kubectl drain` does: by evictions, which heed the budgets that applications have set for themselves.
import type { Clock } from "../gates/clock.ts";
import { News } from "../gates/news.ts";
import { KubernetesClient } from "../kubernetes/client.ts";
import type { KubernetesObject, Pod } from "../kubernetes/objects.ts";
import { type Seen, watch } from "../kubernetes/watch.ts";
import { NodeFailure } from "../talos/nodeFailure.ts";
import { KubernetesObjects } from "./kubernetesAccess.ts";

export interface Drain {
  readonly kubeconfig: string;
  readonly node: string;
  /** By the clock. */
  readonly until: number;
  readonly report: (text: string) => void;
}

/** Milliseconds before an eviction is asked for again that was refused for another reason than a budget, whose changes are seen. */
const again = 2_000;
/** More names than these help nobody. */
const most = 5;

/** No new pod comes to the node from now on. */
export async function cordon({ kubeconfig, node }: Pick<Drain, "kubeconfig" | "node">, clock: Clock): Promise<void> {
  const path = `/api/v1/nodes/${node}`;
  await new KubernetesObjects(kubeconfig, clock).patch(path, { spec: { unschedulable: true } });
}

/** Resolves when no pod is left but those that belong to the node itself. Time that is up says which are left, and why. */
export async function drain({ kubeconfig, node, until, report }: Drain, clock: Clock): Promise<void> {
  const ended = new AbortController();
  const takeBack = clock.after(Math.max(0, until - clock.now()), () => ended.abort());
  const news = new News(ended.signal);
  const client = new KubernetesClient(kubeconfig, clock);
  const objects = new KubernetesObjects(kubeconfig, clock);
  const seen = new Map<string, Seen<KubernetesObject>>();
  const follow = (path: string) => {
    const tell = (now: Seen<KubernetesObject>) => {
      seen.set(path, now);
      news.tell();
    };
    void watch(client, { path, report: tell }, ended.signal, clock);
  };
  const pods = `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`;
  let last = "its pods are not known yet";
  try {
    follow(pods);
    // What a budget forbids it may allow when it has changed.
    follow("/apis/policy/v1/poddisruptionbudgets");
    while (await news.next()) {
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
      if (words.some(({ isRefused }) => isRefused)) clock.after(again, () => news.tell());
    }
    throw new NodeFailure("SLU-L102", last);
  } finally {
    takeBack();
    ended.abort();
  }
}

/** What a node must be rid of: neither its own static pods, nor what a DaemonSet would bring back at once, nor what has ended. */
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

/** Asks for it, where it is not on its way out. */
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
  const count = `${left.length} ${left.length === 1 ? "pod" : "pods"} left`;
  return `${count}; ${shown.join("; ")}`;
}
