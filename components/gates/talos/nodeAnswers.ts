import type { NodeState } from "../../talos/client/nodeState.ts";
import type { Condition, Verdict } from "../../waiting/condition.ts";
import type { NodeView } from "./nodeView.ts";

/** Every node that has its config must answer before anything else is read from it. */
export const everyNodeOurs: Condition<readonly NodeView<unknown>[]> = {
  phrase: "every node to answer with this cluster's certificate",
  evaluate: (views) => views.flatMap((view) => (view.state?.kind === "ours" ? [] : [away(view)])),
};

/** Every node answers with what it was asked for, and not with an error. */
export function answers(phrase: string): Condition<readonly NodeView<unknown>[]> {
  return { phrase, evaluate: (views) => views.flatMap(problemOf) };
}

/** Probes (about five seconds) before a name that is missing from the certificate counts as a fault: the certificate follows a new address a moment later. */
const nameTries = 20;

/**
 * Why a node does not answer as ours. It fails at once for a node of another cluster, for one that is reached by a name that its certificate does not have,
 * and for one that is in maintenance again: nothing sends it a config while a gate waits.
 */
export function away({ node, state, tries }: NodeView<unknown>): Verdict {
  const reached = state !== undefined && "why" in state ? `${node.talosAddress}: ${state.why}` : "";
  if (state?.kind === "foreign") return { kind: "failed", where: node.name, reason: reached, code: "SLU-T109" };
  if (state?.kind === "maintenance")
    return { kind: "failed", where: node.name, reason: reason(state), code: "SLU-T215" };
  if (state?.kind === "invalid") {
    const told = { where: node.name, reason: reached, code: validityCodes[state.of] };
    return { ...told, kind: state.of === "name" && tries >= nameTries ? "failed" : "pending" };
  }
  if (state === undefined) return { kind: "pending", where: node.name, reason: "was not observed yet", unseen: true };
  const told = { kind: "pending", where: node.name, reason: reason(state) } as const;
  return state.kind === "unreachable" ? { ...told, code: state.refused ? "SLU-T102" : "SLU-T101" } : told;
}

const validityCodes = { name: "SLU-T111", time: "SLU-T112" } as const;

function reason(state: Exclude<NodeState, { kind: "foreign" | "invalid" }>): string {
  switch (state.kind) {
    case "maintenance":
      return "is in maintenance again, without its config";
    case "settling":
      return `waits for its certificate${state.stage === "" ? "" : `, in stage ${state.stage}`}`;
    case "unreachable":
      return state.refused ? `boots, installs or reboots (${state.why})` : `does not answer: ${state.why}`;
    case "ours":
      return "answers";
  }
}

export function problemOf({ node, problem }: NodeView<unknown>): readonly Verdict[] {
  return problem === undefined ? [] : [{ kind: "pending", where: node.name, reason: problem }];
}
