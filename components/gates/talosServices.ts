import type { Role } from "../model/role.ts";
import { record, text } from "../model/untyped.ts";
import { resources } from "../talos/client/resources.ts";
import type { TalosService } from "../talos/client/talosClient.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { lazily } from "./lazily.ts";
import { answers, everyNodeOurs } from "./talos/nodeAnswers.ts";
import type { NodeView, Reading, TalosGateInputs } from "./talos/nodeView.ts";
import { failedServices, serviceWords } from "./talos/serviceWords.ts";

type Services = readonly TalosService[];
type Observation = readonly NodeView<Services>[];

type Facts = Pick<ClusterFacts, "talosNodes" | "talos" | "ground">;

/** All Talos services are healthy on every node, workers' kubelets included (S3.4). */
export const talosServices: GateDefinition<TalosGateInputs, Observation, Facts> = {
  name: "TalosServices",
  timeoutCode: "SLU-T331",
  resource: "talos-services",
  proves: "Talos' services are healthy on every node",
  opensWhen: "every Talos service is healthy on every node, including the workers' kubelets",
  timeout: { key: "services", seconds: 300 },
  canFlap: true,
  inputs: ({ talosNodes }) => ({ nodes: talosNodes }),
  credentials: ({ talos }) => talos,
  triggers: ({ ground }) => ground,
  conditions: () => [everyNodeOurs, answers("every node to list its services"), kubelets, allServices],
  observe: (inputs, signal, clock) =>
    lazily(async () => (await import("./talos/watchNodes.ts")).watchNodes(inputs, reading, signal, clock)),
  // One string per node: as a list they would be most of what a stack shows.
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
  words({ services }) {
    const nodes = Object.values(record(services)).map((names) => text(names).split(" "));
    return `${many(nodes.flat(), "service")} healthy on ${many(nodes, "node")}`;
  },
};

/** Resources show that something changed; only the service list has the messages of a service that does not start. */
const reading: Reading<Services> = {
  follow: [resources.services],
  intervalMs: 2_000,
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
  const unmet = names.flatMap((name) => {
    const service = facts.find(({ id }) => id === name);
    if (service === undefined) return [{ name: "machined", reason: `there is no service ${name}` }];
    return isWell(service, needed[node.role].includes(name)) ? [] : [{ name, reason: serviceWords(service) }];
  });
  const [first] = unmet;
  if (first === undefined) return [];
  const reason = unmet.map((one) => one.reason).join("; ");
  const failed = failedServices(unmet.flatMap(({ name }) => facts.filter(({ id }) => id === name)));
  return [
    { kind: "pending", where: node.name, reason, log: first.name, ...(failed !== undefined && { stall: failed }) },
  ];
}

/** Some services, such as the dashboard, have no health check; some finish. */
function isWell({ state, healthy }: TalosService, isNeeded: boolean): boolean {
  if (isNeeded) return state === "Running" && healthy === true;
  return state === "Running" ? healthy !== false : state === "Finished" || state === "Skipped";
}
