// What the facts of a lab say of the API servers of a cluster.
import type { Fact } from "./facts.ts";

const apiServer = "kube-system/kube-apiserver";

/** The most API servers that were down at the same time, from a fact on. Those of the given nodes served before. */
export function mostServersDown(facts: readonly Fact[], nodes: readonly string[], from: number): number {
  const down = new Set<string>();
  let most = 0;
  for (const { seq, subject, what, value, detail } of facts) {
    if (seq <= from || !nodes.includes(subject)) continue;
    if (what === "kubelet" && value === "stopped") down.add(subject);
    if (what === "pod" && detail?.pod?.startsWith(apiServer)) {
      if (value === "ready") down.delete(subject);
      else down.add(subject);
    }
    most = Math.max(most, down.size);
  }
  return most;
}
