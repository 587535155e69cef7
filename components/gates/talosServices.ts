import type { Role } from "../machines/node.ts";
import { resources } from "../talos/client/resources.ts";
import type { TalosService } from "../talos/client/talosClient.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { answers, everyNodeOurs } from "./nodeAnswers.ts";
import type { NodeView, Reading, TalosGateInputs } from "./nodeView.ts";
import { serviceWords } from "./serviceWords.ts";
import { watchNodes } from "./watchNodes.ts";

type Services = readonly TalosService[];
type Observation = readonly NodeView<Services>[];

/** All Talos services are healthy on every node, workers' kubelets included (S3.4). */
export const talosServices: GateDefinition<TalosGateInputs, Observation> = {
  name: "TalosServices",
  timeoutCode: "SLU-T331",
  conditions: () => [everyNodeOurs, answers("every node to tell of its services"), kubelets, allServices],
  observe: (inputs, signal, clock) => watchNodes(inputs, reading, signal, clock),
  // A line for each node: as a list they would be most of what a stack shows.
  evidence: (views) => ({
    services: Object.fromEntries(
      views.map(({ node, facts = [] }) => [
        node.name,
        facts
          .map(({ id }) => id)
          .sort()
          .join(" "),
      ]),
    ),
  }),
};

/** The resources tell that something changed; only the list has the words of a service that does not come up. */
const reading: Reading<Services> = {
  follow: [resources.services],
  every: 2_000,
  read: (client, options) => client.services(options),
};

const onEveryNode = ["apid", "containerd", "cri", "kubelet", "machined"];
const needed: Readonly<Record<Role, readonly string[]>> = {
  controlplane: [...onEveryNode, "etcd", "trustd"],
  worker: onEveryNode,
};

const kubelets: Condition<Observation> = {
  phrase: "the kubelet to run on every node",
  evaluate: (views) => views.flatMap((view) => sick(view, ["kubelet"])),
};

const allServices: Condition<Observation> = {
  phrase: "all Talos services to be healthy on every node",
  evaluate: (views) =>
    views.flatMap((view) => {
      const others = view.facts?.map(({ id }) => id) ?? [];
      return sick(view, [...new Set([...needed[view.node.role], ...others])]);
    }),
};

function sick({ node, facts }: NodeView<Services>, names: readonly string[]): readonly Verdict[] {
  if (facts === undefined) return [];
  const reasons = names.flatMap((name) => {
    const service = facts.find(({ id }) => id === name);
    if (service === undefined) return [`there is no service ${name}`];
    return isWell(service, needed[node.role].includes(name)) ? [] : [serviceWords(service)];
  });
  return reasons.length === 0 ? [] : [{ kind: "pending", where: node.name, reason: reasons.join("; ") }];
}

/** Some services, such as the dashboard, have no health check; some are done after a while. */
function isWell({ state, healthy }: TalosService, isNeeded: boolean): boolean {
  if (isNeeded) return state === "Running" && healthy === true;
  return state === "Running" ? healthy !== false : state === "Finished" || state === "Skipped";
}
