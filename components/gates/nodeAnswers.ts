import type { NodeState } from "../talos/client/nodeState.ts";
import type { Condition, Verdict } from "./gateDefinition.ts";
import type { NodeView } from "./nodeView.ts";

/** Before anything else can be asked of a node that has its config. */
export const everyNodeOurs: Condition<readonly NodeView<unknown>[]> = {
  phrase: "every node to answer with this cluster's certificate",
  evaluate: (views) => views.flatMap((view) => (view.state?.kind === "ours" ? [] : [away(view)])),
};

/** No node answers with a problem in place of what it was asked for. */
export function answers(phrase: string): Condition<readonly NodeView<unknown>[]> {
  return { phrase, evaluate: (views) => views.flatMap(problemOf) };
}

/** How often a node is probed, about five seconds, before it is said that its certificate will not get the name: that follows an address a moment later. */
const nameTries = 20;

/** Why a node that should be ours is not. One of another cluster cannot become so, nor one that is reached by a name which it does not have. */
export function away({ node, state, tries }: NodeView<unknown>): Verdict {
  const reached = state !== undefined && "why" in state ? `${node.endpoint}: ${state.why}` : "";
  if (state?.kind === "foreign") return { kind: "failed", where: node.name, reason: reached, code: "SLU-T109" };
  if (state?.kind === "invalid") {
    const told = { where: node.name, reason: reached, code: validityCodes[state.of] };
    return { ...told, kind: state.of === "name" && tries >= nameTries ? "failed" : "pending" };
  }
  if (state === undefined) return { kind: "pending", where: node.name, reason: "was not seen yet", unseen: true };
  const told = { kind: "pending", where: node.name, reason: reason(state) } as const;
  return state.kind === "unreachable" ? { ...told, code: state.refused ? "SLU-T102" : "SLU-T101" } : told;
}

const validityCodes = { name: "SLU-T111", time: "SLU-T112" } as const;

function reason(state: Exclude<NodeState, { kind: "foreign" | "invalid" }>): string {
  switch (state.kind) {
    case "maintenance":
      return "is in maintenance: it has no config";
    case "settling":
      return `waits for its certificate, in stage ${state.stage}`;
    case "unreachable":
      return state.refused ? `boots, installs or reboots (${state.why})` : `does not answer: ${state.why}`;
    case "ours":
      return "answers";
  }
}

export function problemOf({ node, problem }: NodeView<unknown>): readonly Verdict[] {
  return problem === undefined ? [] : [{ kind: "pending", where: node.name, reason: problem }];
}
