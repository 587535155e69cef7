import { catalogue } from "../errors/catalogue.ts";
import type { KubernetesNode } from "../kubernetes/objects.ts";
import type { KubernetesCredentials, Observed } from "../kubernetes/observe.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { keys, many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { lazily } from "./lazily.ts";

/** An expected node, with what is known of its machine. */
export interface ExpectedNode {
  readonly name: string;
  /** The machine's UUID, as its firmware reports it. */
  readonly uuid?: string;
  /** The cloud controller's name of the machine: `hcloud://123`. */
  readonly providerId?: string;
}

export interface NodesJoinedInputs {
  readonly credentials: KubernetesCredentials;
  readonly nodes: readonly ExpectedNode[];
}

type Kinds = { nodes: KubernetesNode };
type Observation = Observed<Kinds>;

type Facts = Pick<ClusterFacts, "expectedNodes" | "kubeconfig" | "ground">;

/** Every kubelet has registered its node, and each node is the expected machine. It need not be Ready: there may be no network yet. */
export const nodesJoined: GateDefinition<NodesJoinedInputs, Observation, Facts> = {
  name: "NodesJoined",
  timeoutCode: "SLU-K103",
  resource: "nodes-joined",
  proves: "every node is registered in Kubernetes",
  opensWhen: "every node is registered, and is the expected machine (UUID, provider id)",
  timeout: { key: "joined", seconds: 300 },
  canFlap: false,
  inputs: ({ expectedNodes }) => ({ nodes: expectedNodes }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ ground }) => ground,
  conditions: ({ nodes }) => [apiAnswers, joined(namesOf(nodes)), identity(nodes)],
  observe: ({ credentials }, signal, clock) =>
    lazily(async () => {
      const { observe } = await import("../kubernetes/observe.ts");
      return observe<Kinds>(credentials, { nodes: "/api/v1/nodes" }, signal, clock);
    }),
  evidence: ({ nodes }, { nodes: expected }) => ({
    machines: Object.fromEntries(
      nodes
        .filter(({ metadata }) => expected.some(({ name }) => name === metadata.name))
        .map(({ metadata, status }): [string, string] => [metadata.name, status?.nodeInfo?.systemUUID ?? ""])
        .sort(),
    ),
    strangers: strangers(nodes, namesOf(expected)),
  }),
  remarks({ nodes }, { nodes: expected }) {
    const there = strangers(nodes, namesOf(expected)).join(", ");
    const { title, remedy } = catalogue["SLU-K104"];
    return there === ""
      ? []
      : [`in the cluster, but not in this environment: ${there} (SLU-K104: ${title}). ${remedy}`];
  },
  words: ({ machines }) => `${many(keys(machines), "node")}, identities verified`,
};

const namesOf = (nodes: readonly ExpectedNode[]) => nodes.map(({ name }) => name);

/** Nodes that the environment does not list: created by an autoscaler, a user, or someone who has the cluster's secrets. */
function strangers(nodes: readonly KubernetesNode[], expected: readonly string[]): readonly string[] {
  return nodes
    .map(({ metadata }) => metadata.name)
    .filter((name) => !expected.includes(name))
    .sort();
}

/** Every expected node. An unexpected node does not keep the gate closed, because it may be there on purpose, but it is named. docs/gates.md */
export function joined(expected: readonly string[]): Condition<Observation> {
  return {
    phrase: "every node to have joined",
    evaluate({ nodes }) {
      const there = nodes.map(({ metadata }) => metadata.name);
      const others = strangers(nodes, expected).join(", ");
      const besides = others === "" ? "" : ` (registered, but not in this environment: ${others})`;
      return expected
        .filter((name) => !there.includes(name))
        .map((where) => ({ kind: "pending", where, reason: `its kubelet has not registered it${besides}` }));
    },
  };
}

function identity(expected: readonly ExpectedNode[]): Condition<Observation> {
  return {
    phrase: "every node to be the expected machine",
    evaluate: ({ nodes }) =>
      expected.flatMap((wanted) => {
        const node = nodes.find(({ metadata }) => metadata.name === wanted.name);
        return node === undefined ? [] : differences(wanted, node);
      }),
  };
}

function differences(wanted: ExpectedNode, { spec, status }: KubernetesNode): readonly Verdict[] {
  const pairs: readonly [string, string | undefined, string | undefined][] = [
    ["machine UUID", wanted.uuid?.toLowerCase(), status?.nodeInfo?.systemUUID.toLowerCase()],
    ["provider id", wanted.providerId, spec?.providerID],
  ];
  return (
    pairs
      // Fields that the Node object does not have yet are added later by the cloud controller.
      .filter(([, want, has]) => want !== undefined && has !== undefined && has !== "" && want !== has)
      .map(([what, want, has]) => ({
        kind: "failed",
        where: wanted.name,
        reason: `is another machine: its ${what} is ${has}, not ${want}`,
        code: "SLU-K104",
      }))
  );
}
