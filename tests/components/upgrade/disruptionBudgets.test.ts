import { describe, expect, test } from "@jest/globals";
import type { Pod } from "../../../components/kubernetes/objects.ts";
import {
  type DisruptionBudget,
  impossibleBudgets,
  type LabelSelector,
  selects,
} from "../../../components/upgrade/disruptionBudgets.ts";

const pod = (name: string, nodeName: string, more: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name, namespace: "shop", labels: { app: "db" }, ...more },
  spec: { nodeName },
  status: { phase: "Running" },
});
const budget = (status: DisruptionBudget["status"], more: Partial<DisruptionBudget> = {}): DisruptionBudget => ({
  metadata: { name: "db", namespace: "shop" },
  spec: { selector: { matchLabels: { app: "db" } } },
  ...(status && { status }),
  ...more,
});
const single = { expectedPods: 1, desiredHealthy: 1, currentHealthy: 1, disruptionsAllowed: 0 };
const found = (budgets: readonly DisruptionBudget[], pods: readonly Pod[], nodes = ["w-1", "w-2"]) =>
  impossibleBudgets(budgets, pods, new Set(nodes));

describe("S8.3 a budget", () => {
  test("that requires as many pods as there are is found before anything is changed, with a pod and its node", () => {
    expect(found([budget(single)], [pod("db-0", "w-1")])).toEqual([
      "shop/db requires 1 of 1 healthy, and db-0 on w-1 would have to be evicted",
    ]);
    const two = { ...single, expectedPods: 2, desiredHealthy: 2, currentHealthy: 1 };
    expect(found([budget(two)], [pod("db-0", "w-1"), pod("db-1", "w-2")])).toEqual([
      "shop/db requires 2 of 2 healthy, and db-0 on w-1 and 1 more would have to be evicted",
    ]);
  });

  test.each<[string, DisruptionBudget, Pod]>([
    ["allows an eviction", budget({ ...single, expectedPods: 2, disruptionsAllowed: 1 }), pod("db-0", "w-1")],
    [
      "allows one once its pods are healthy",
      budget({ ...single, expectedPods: 2, desiredHealthy: 1 }),
      pod("db-0", "w-1"),
    ],
    ["has no pods", budget({ expectedPods: 0, desiredHealthy: 0, disruptionsAllowed: 0 }), pod("db-0", "w-1")],
    ["was not judged by Kubernetes yet", budget(undefined), pod("db-0", "w-1")],
    ["is of another namespace", budget(single, { metadata: { name: "db", namespace: "other" } }), pod("db-0", "w-1")],
    ["is of other pods", budget(single, { spec: { selector: { matchLabels: { app: "web" } } } }), pod("db-0", "w-1")],
    ["selects nothing", budget(single, { spec: { selector: null } }), pod("db-0", "w-1")],
    ["is of pods on nodes that stay", budget(single), pod("db-0", "w-9")],
    [
      "is of pods that a DaemonSet keeps on the node",
      budget(single),
      pod("db-0", "w-1", { ownerReferences: [{ kind: "DaemonSet", name: "db", uid: "1" }] }),
    ],
  ])("is no obstacle if it %s", (_, one, held) => {
    expect(found([one], [held])).toEqual([]);
  });
});

test.each<[string, LabelSelector, boolean]>([
  ["nothing required", {}, true],
  ["an equal label", { matchLabels: { app: "db" } }, true],
  ["another label", { matchLabels: { app: "db", tier: "back" } }, false],
  ["one of these values", { matchExpressions: [{ key: "app", operator: "In", values: ["web", "db"] }] }, true],
  ["one of other values", { matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] }, false],
  ["none of these values", { matchExpressions: [{ key: "app", operator: "NotIn", values: ["db"] }] }, false],
  ["no value at all", { matchExpressions: [{ key: "tier", operator: "NotIn", values: ["db"] }] }, true],
  ["that it exists", { matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
  ["that it does not exist", { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, false],
  ["all of it", { matchLabels: { app: "db" }, matchExpressions: [{ key: "tier", operator: "Exists" }] }, false],
])("a selector for %s selects as Kubernetes does", (_, selector, expected) => {
  expect(selects(selector, { app: "db" })).toBe(expected);
});
