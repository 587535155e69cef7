import type { KubernetesNode } from "../kubernetes/objects.ts";
import type { KubernetesCredentials, Observed } from "../kubernetes/observe.ts";
import { record } from "../model/untyped.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { distinct, keys, many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { deploymentReady } from "./kubernetes/deploymentReady.ts";
import { type WorkloadKinds, workloadPaths } from "./kubernetes/workloads.ts";
import { lazily } from "./lazily.ts";
import { joined } from "./nodesJoined.ts";

export interface NodesReadyInputs {
  readonly credentials: KubernetesCredentials;
  /** Names of all nodes. */
  readonly nodes: readonly string[];
  /** The Deployment of the cloud controller that must have initialized every node. Until then its taint does not keep a node from being Ready. */
  readonly controller?: string;
  /** Labels that every node must have from that controller. */
  readonly labels: readonly string[];
}

type Kinds = WorkloadKinds & { nodes: KubernetesNode };
type Observation = Observed<Kinds>;

type Facts = Pick<ClusterFacts, "nodeNames" | "kubeconfig" | "cloudController" | "ground">;

/** Every expected node is Ready, and no taint keeps pods away from it. */
export const nodesReady: GateDefinition<NodesReadyInputs, Observation, Facts> = {
  name: "NodesReady",
  timeoutCode: "SLU-K105",
  resource: "nodes-ready",
  proves: "every node is Ready",
  opensWhen:
    "every node is Ready, without the taints of a node that is not, and initialized by the cloud controller if there is one",
  timeout: { key: "nodes", seconds: 600 },
  canFlap: true,
  inputs: ({ nodeNames, cloudController }) => ({
    nodes: nodeNames,
    ...(cloudController !== undefined && { controller: cloudController.deployment }),
    labels: cloudController?.labels ?? [],
  }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ cloudController, ground }) => [...(cloudController?.triggers ?? []), ...ground],
  secretTriggers: ({ cloudController }) => cloudController?.secretTriggers,
  conditions: ({ nodes, controller, labels }) => [
    apiAnswers,
    joined(nodes),
    ready(nodes),
    untainted(nodes, ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]),
    ...[
      ...(controller === undefined ? [] : [untainted(nodes, ["node.cloudprovider.kubernetes.io/uninitialized"])]),
      ...(labels.length > 0 ? [labelled(nodes, labels)] : []),
    ].map((condition) => byController(controller, condition)),
  ],
  observe: ({ credentials }, signal, clock) =>
    lazily(async () => {
      const { observe } = await import("../kubernetes/observe.ts");
      const paths = { nodes: "/api/v1/nodes", ...workloadPaths("kube-system") };
      return observe<Kinds>(credentials, paths, signal, clock);
    }),
  evidence: ({ nodes }, { nodes: expected }) => ({
    kubelets: Object.fromEntries(
      among(nodes, expected)
        .map(({ metadata, status }): [string, string] => [metadata.name, status?.nodeInfo?.kubeletVersion ?? ""])
        .sort(),
    ),
  }),
  words: ({ kubelets }) =>
    `${many(keys(kubelets), "node")} Ready, kubelet ${distinct(Object.values(record(kubelets)))}`,
};

/** The work of the cloud controller. If it is not done, the first finding is why the controller does not run; all of them have the controller's code. */
function byController(controller: string | undefined, condition: Condition<Observation>): Condition<Observation> {
  const controllers = controller === undefined ? [] : [deploymentReady(controller, "SLU-K116")];
  const own = (verdict: Verdict): Verdict => (verdict.kind === "pending" ? { ...verdict, code: "SLU-K116" } : verdict);
  return {
    ...condition,
    evaluate(observation) {
      const undone = condition.evaluate(observation);
      const why = undone.length === 0 ? [] : controllers.flatMap((one) => one.evaluate(observation));
      return [...why, ...undone].map(own);
    },
  };
}

function ready(expected: readonly string[]): Condition<Observation> {
  return {
    phrase: "every node to be Ready",
    evaluate: ({ nodes }) =>
      among(nodes, expected).flatMap(({ metadata: { name: where }, status }) => {
        const condition = status?.conditions?.find(({ type }) => type === "Ready");
        if (condition?.status === "True") return [];
        const said =
          condition === undefined ? "its kubelet reports nothing" : `${condition.reason}: ${condition.message}`;
        return [{ kind: "pending", where, reason: said }];
      }),
  };
}

function untainted(expected: readonly string[], keys: readonly string[]): Condition<Observation> {
  return {
    phrase: `no node to have the taint ${keys.join(" or ")}`,
    evaluate: ({ nodes }) =>
      among(nodes, expected).flatMap(({ metadata: { name: where }, spec }) =>
        (spec?.taints ?? [])
          .filter(({ key }) => keys.includes(key))
          .map(({ key, effect }) => ({ kind: "pending", where, reason: `has the taint ${key}:${effect}` })),
      ),
  };
}

function labelled(expected: readonly string[], labels: readonly string[]): Condition<Observation> {
  return {
    phrase: `every node to have the labels ${labels.join(", ")}`,
    evaluate: ({ nodes }) =>
      among(nodes, expected).flatMap(({ metadata }) => {
        const missing = labels.filter((label) => metadata.labels?.[label] === undefined);
        return missing.length === 0
          ? []
          : [{ kind: "pending", where: metadata.name, reason: `does not have ${missing.join(", ")}` }];
      }),
  };
}

function among(nodes: readonly KubernetesNode[], expected: readonly string[]): readonly KubernetesNode[] {
  return nodes.filter(({ metadata }) => expected.includes(metadata.name));
}
