import { catalogue } from "../errors/catalogue.ts";
import type { KubernetesNode } from "../kubernetes/objects.ts";
import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";

/** A node that there should be, and the machine that it should be as far as that is known. */
export interface ExpectedNode {
  readonly name: string;
  /** The machine's UUID, as its firmware has it. */
  readonly uuid?: string;
  /** What the cloud's controller calls the machine: `hcloud://123`. */
  readonly providerId?: string;
}

export interface NodesJoinedInputs {
  readonly credentials: KubernetesCredentials;
  readonly nodes: readonly ExpectedNode[];
}

type Kinds = { nodes: KubernetesNode };
type Observation = Observed<Kinds>;

/** Every kubelet has registered its node, and each node is the machine that is meant. It need not be Ready: there may be no network yet. */
export const nodesJoined: GateDefinition<NodesJoinedInputs, Observation> = {
  name: "NodesJoined",
  timeoutCode: "SLU-K103",
  conditions: ({ nodes }) => [apiAnswers, joined(namesOf(nodes)), identity(nodes)],
  observe: ({ credentials }, signal, clock) => observe<Kinds>(credentials, { nodes: "/api/v1/nodes" }, signal, clock),
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
      : [`not of this environment, but in the cluster: ${there} (SLU-K104: ${title}). ${remedy}`];
  },
};

const namesOf = (nodes: readonly ExpectedNode[]) => nodes.map(({ name }) => name);

/** Nodes that nobody asked for: the work of an autoscaler, of a person, or of somebody who has the cluster's secrets. */
function strangers(nodes: readonly KubernetesNode[], expected: readonly string[]): readonly string[] {
  return nodes
    .map(({ metadata }) => metadata.name)
    .filter((name) => !expected.includes(name))
    .sort();
}

/** Each of these nodes. One that nobody asked for does not hold the gate, as it may be there on purpose; it is named. docs/gates.md */
export function joined(expected: readonly string[]): Condition<Observation> {
  return {
    phrase: "every node to have joined",
    evaluate({ nodes }) {
      const there = nodes.map(({ metadata }) => metadata.name);
      const others = strangers(nodes, expected).join(", ");
      const besides = others === "" ? "" : ` (there, but not of this cluster: ${others})`;
      return expected
        .filter((name) => !there.includes(name))
        .map((where) => ({ kind: "pending", where, reason: `its kubelet has not registered it${besides}` }));
    },
  };
}

function identity(expected: readonly ExpectedNode[]): Condition<Observation> {
  return {
    phrase: "every node to be the machine that is meant",
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
      // What the node does not tell yet, the cloud's controller adds later.
      .filter(([, want, has]) => want !== undefined && has !== undefined && has !== "" && want !== has)
      .map(([what, want, has]) => ({
        kind: "failed",
        where: wanted.name,
        reason: `is another machine: its ${what} is ${has}, not ${want}`,
        code: "SLU-K104",
      }))
  );
}
