// When what runs the pods of a part is as it was asked for, node by node.

import type { FailureCode } from "../errors/catalogue.ts";
import type { DaemonSet, Deployment, KubernetesEvent, Pod } from "../kubernetes/objects.ts";
import type { Paths } from "../kubernetes/observe.ts";
import type { Verdict } from "./gateDefinition.ts";
import { podReason } from "./podReason.ts";

/** What is looked at in a namespace. */
export type WorkloadKinds = {
  daemonSets: DaemonSet;
  deployments: Deployment;
  pods: Pod;
  events: KubernetesEvent;
};

export type Workloads = { readonly [Kind in keyof WorkloadKinds]: readonly WorkloadKinds[Kind][] };

export function workloadPaths(namespace: string): Paths<WorkloadKinds> {
  return {
    daemonSets: `/apis/apps/v1/namespaces/${namespace}/daemonsets`,
    deployments: `/apis/apps/v1/namespaces/${namespace}/deployments`,
    pods: `/api/v1/namespaces/${namespace}/pods`,
    events: `/api/v1/namespaces/${namespace}/events`,
  };
}

/** The images of what runs, by container: which version was proven. */
export function imagesOf({ spec }: DaemonSet | Deployment): Record<string, string> {
  return Object.fromEntries(spec.template.spec.containers.map(({ name, image }) => [name, image]));
}

/** None when the pod is ready. */
export function podVerdict(
  pod: Pod,
  events: readonly KubernetesEvent[],
  code: FailureCode,
  where: string,
): readonly Verdict[] {
  const why = podReason(pod, events);
  if (why === undefined) return [];
  const { reason, final } = why;
  return [final ? { kind: "failed", where, reason, code } : { kind: "pending", where, reason }];
}
