import { describe, expect, test } from "@jest/globals";
import type { Workloads } from "../../../components/gates/kubernetes/workloads.ts";
import { nodesReady } from "../../../components/gates/nodesReady.ts";
import type { KubernetesNode } from "../../../components/kubernetes/objects.ts";
import { credentials, look, nodes, podsOnW1, recordedNodes, verdicts } from "./kubernetesLooks.ts";

const labels = ["instance.hetzner.cloud/provided-by"];
const stranger: KubernetesNode = { metadata: { name: "old-1" }, status: {} };
const none: Workloads = { daemonSets: [], deployments: [], pods: [], events: [] };
const withController = { controller: "cloud-controller", labels };
const withoutController = { labels: [] };
const judge = (
  seen: readonly KubernetesNode[],
  own: { controller?: string; nodes?: string[]; labels: string[] } = withController,
  workloads = none,
) => verdicts(nodesReady.conditions({ credentials, nodes, ...own }), look({ nodes: seen, ...workloads }));
const changed = (change: (node: KubernetesNode) => KubernetesNode) =>
  recordedNodes().healthy.map((node) => (node.metadata.name === "w-1" ? change(node) : node));

describe("S3.2 the gate NodesReady", () => {
  test("opens on a healthy cluster, with the kubelets of the environment's nodes as evidence", () => {
    const { healthy } = recordedNodes();
    expect(judge(healthy)).toEqual([]);
    expect(
      nodesReady.evidence(look({ nodes: [...healthy, stranger], ...none }), { credentials, nodes, labels }),
    ).toEqual({
      kubelets: { "cp-1": "v1.36.2", "w-1": "v1.36.2", "w-2": "v1.36.2" },
    });
  });

  test("S3.3 names the node whose network is missing, in its kubelet's words", () => {
    const [first, ...taints] = judge(recordedNodes().withoutNetwork);
    expect(first).toEqual({
      kind: "pending",
      where: "w-1",
      reason: expect.stringMatching(
        /^KubeletNotReady: container runtime network not ready: .*cni plugin not initialized$/,
      ),
    });
    expect(taints.map((verdict) => verdict.kind === "pending" && verdict.reason)).toEqual([
      "has the taint node.kubernetes.io/not-ready:NoSchedule",
      "has the taint node.kubernetes.io/not-ready:NoExecute",
    ]);
  });

  test("waits for a missing node, even if all others are Ready", () => {
    const there = recordedNodes().healthy.filter(({ metadata }) => metadata.name !== "w-2");
    expect(judge(there)).toMatchObject([{ where: "w-2", reason: "its kubelet has not registered it" }]);
  });

  test("ignores an unexpected node, and names it if one is missing", () => {
    const [cp, one, two] = recordedNodes().healthy as [KubernetesNode, KubernetesNode, KubernetesNode];
    expect(judge([cp, one, two, stranger])).toEqual([]);
    expect(judge([cp, one, stranger])).toMatchObject([
      { where: "w-2", reason: "its kubelet has not registered it (registered, but not in this environment: old-1)" },
    ]);
  });

  test("waits for a node whose kubelet has stopped reporting, or has not reported yet", () => {
    const said = (conditions: { type: string; status: string; reason: string; message: string }[]) =>
      judge(changed((node) => ({ ...node, status: { ...node.status, conditions } })));
    const silent = {
      type: "Ready",
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    };
    expect(said([silent])).toMatchObject([
      { where: "w-1", reason: "NodeStatusUnknown: Kubelet stopped posting node status." },
    ]);
    expect(said([])).toMatchObject([{ where: "w-1", reason: "its kubelet reports nothing" }]);
  });

  const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }];
  const untaken = () => changed((node) => ({ ...node, spec: { taints }, metadata: { ...node.metadata, labels: {} } }));

  test("waits for the cloud controller only if there is one", () => {
    expect(judge(untaken(), withoutController)).toEqual([]);
    const code = "SLU-K116";
    const isMissing = { kind: "pending", where: "Deployment cloud-controller", reason: "does not exist", code };
    const reason = "has the taint node.cloudprovider.kubernetes.io/uninitialized:NoSchedule";
    expect(judge(untaken())).toMatchObject([
      isMissing,
      { kind: "pending", where: "w-1", reason, code },
      isMissing,
      { kind: "pending", where: "w-1", reason: "does not have instance.hetzner.cloud/provided-by", code },
    ]);
  });

  test("reports first that the cloud controller does not run, if that keeps nodes uninitialized", () => {
    const { pod, events } = podsOnW1().crash;
    const deployment = {
      metadata: { name: "cloud-controller", generation: 1 },
      spec: { selector: { matchLabels: {} }, template: { spec: { containers: [] } } },
      status: { observedGeneration: 1 },
    };
    const [why] = judge(untaken(), withController, { ...none, deployments: [deployment], pods: [pod], events });
    expect(why).toMatchObject({ where: "w-1", reason: expect.stringContaining("CrashLoopBackOff"), code: "SLU-K116" });
    // Whether it runs does not matter once it has initialized the nodes.
    expect(judge(recordedNodes().healthy)).toEqual([]);
  });

  test("waits for the API while it does not answer", () => {
    const unreachable = "10.0.0.20:6443 refuses the connection";
    const seen = { nodes: recordedNodes().healthy, ...none, unreachable };
    const [apiAnswers] = nodesReady.conditions({ credentials, nodes, ...withController });
    expect(apiAnswers?.evaluate(seen)).toEqual([{ kind: "pending", reason: unreachable }]);
  });
});

test("the evidence of NodesReady in a few words", () => {
  expect(nodesReady.words({ kubelets: { "cp-1": "v1.36.4", "w-1": "v1.36.4" } })).toBe(
    "2 nodes Ready, kubelet v1.36.4",
  );
});
