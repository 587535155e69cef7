// PodDisruptionBudgets that make a drain impossible, found before anything is changed.

import type { KubernetesObject, Pod } from "../kubernetes/objects.ts";
import { isEvicted } from "../lifecycle/drain.ts";

interface Expression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly Expression[];
}

export interface DisruptionBudget extends KubernetesObject {
  readonly spec?: {
    readonly selector?: LabelSelector | null;
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
  };
  readonly status?: {
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly disruptionsAllowed?: number;
  };
}

/**
 * The budgets that allow no eviction even when all of their pods are healthy, with the pods on the given nodes: waiting cannot help. A budget whose pods are just
 * not healthy may allow one later, so the drain waits for it.
 */
export function impossibleBudgets(
  budgets: readonly DisruptionBudget[],
  pods: readonly Pod[],
  nodes: ReadonlySet<string>,
): readonly string[] {
  const moved = pods.filter((pod) => nodes.has(pod.spec?.nodeName ?? "") && isEvicted(pod));
  return budgets.filter(allowsNone).flatMap((budget) => {
    const held = moved.filter((pod) => isUnder(pod, budget));
    const [first] = held;
    if (first === undefined) return [];
    const { namespace = "default", name } = budget.metadata;
    const { desiredHealthy, expectedPods } = budget.status ?? {};
    const others = held.length === 1 ? "" : ` and ${held.length - 1} more`;
    return [
      `${namespace}/${name} requires ${desiredHealthy} of ${expectedPods} healthy, and ${first.metadata.name} on ${first.spec?.nodeName}${others} would have to be evicted`,
    ];
  });
}

function allowsNone({ status }: DisruptionBudget): boolean {
  const { expectedPods = 0, desiredHealthy = 0, disruptionsAllowed = 0 } = status ?? {};
  return expectedPods > 0 && disruptionsAllowed === 0 && desiredHealthy >= expectedPods;
}

function isUnder(pod: Pod, { metadata, spec }: DisruptionBudget): boolean {
  const isHere = (pod.metadata.namespace ?? "default") === (metadata.namespace ?? "default");
  return isHere && spec?.selector != null && selects(spec.selector, pod.metadata.labels ?? {});
}

/** As Kubernetes does: all requirements must hold; an empty selector selects everything. */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const areEqual = Object.entries(matchLabels).every(([key, wanted]) => labels[key] === wanted);
  return areEqual && matchExpressions.every((expression) => holds(expression, labels[expression.key]));
}

function holds({ operator, values = [] }: Expression, label: string | undefined): boolean {
  switch (operator) {
    case "In":
      return label !== undefined && values.includes(label);
    case "NotIn":
      return label === undefined || !values.includes(label);
    case "Exists":
      return label !== undefined;
    case "DoesNotExist":
      return label === undefined;
  }
}
