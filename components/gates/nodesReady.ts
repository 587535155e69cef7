import type { KubernetesNode } from "../kubernetes/objects.ts";
import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import { deploymentReady } from "./deploymentReady.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { joined } from "./nodesJoined.ts";
import { type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface NodesReadyInputs {
  readonly credentials: KubernetesCredentials;
  /** Names of all nodes. */
  readonly nodes: readonly string[];
  /** The Deployment of the cloud's controller that has to have taken every node in. Before it does, its taint keeps no node from being Ready. */
  readonly controller?: string;
  /** Labels that every node must have, as that controller gives them. */
  readonly labels: readonly string[];
}

type Kinds = WorkloadKinds & { nodes: KubernetesNode };
type Observation = Observed<Kinds>;

/** Every node that there should be is Ready, and nothing keeps pods away from it. */
export const nodesReady: GateDefinition<NodesReadyInputs, Observation> = {
  name: "NodesReady",
  timeoutCode: "SLU-K105",
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
    observe<Kinds>(credentials, { nodes: "/api/v1/nodes", ...workloadPaths("kube-system") }, signal, clock),
  evidence: ({ nodes }, { nodes: expected }) => ({
    kubelets: Object.fromEntries(
      among(nodes, expected)
        .map(({ metadata, status }): [string, string] => [metadata.name, status?.nodeInfo?.kubeletVersion ?? ""])
        .sort(),
    ),
  }),
};

/** What a cloud's controller has to do: where it is not done, why the controller does not is told first, and as its own fault. */
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
        const said = condition === undefined ? "its kubelet says nothing" : `${condition.reason}: ${condition.message}`;
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
          : [{ kind: "pending", where: metadata.name, reason: `lacks ${missing.join(", ")}` }];
      }),
  };
}

function among(nodes: readonly KubernetesNode[], expected: readonly string[]): readonly KubernetesNode[] {
  return nodes.filter(({ metadata }) => expected.includes(metadata.name));
}
