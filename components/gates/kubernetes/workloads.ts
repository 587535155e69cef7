// Whether the Deployments and DaemonSets of a part are as requested, node by node.

import type { FailureCode } from "../../errors/catalogue.ts";
import type { DaemonSet, Deployment, KubernetesEvent, Pod } from "../../kubernetes/objects.ts";
import type { Paths } from "../../kubernetes/observe.ts";
import { podReason } from "../../kubernetes/podReason.ts";
import type { Verdict } from "../../waiting/condition.ts";

/** The objects that are read in a namespace. */
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

/** Remedy if the object that creates the pods does not exist. */
export const absentRemedy =
  "Its Helm release has not created it, or someone deleted it: run `npm run up -- <environment> --refresh`, which finds that and creates it again.";

/** The images that run, by container: the version that was proven. */
export function imagesOf({ spec }: DaemonSet | Deployment): Record<string, string> {
  return Object.fromEntries(spec.template.spec.containers.map(({ name, image }) => [name, image]));
}

/** Empty if the pod is ready. */
export function podVerdict(
  pod: Pod,
  events: readonly KubernetesEvent[],
  code: FailureCode,
  where: string,
): readonly Verdict[] {
  const why = podReason(pod, events);
  if (why === undefined) return [];
  const { reason, isPermanent, crashes } = why;
  if (isPermanent) return [{ kind: "failed", where, reason, code }];
  return [{ kind: "pending", where, reason, ...(crashes !== undefined && { stall: crashes }) }];
}
