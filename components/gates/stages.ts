import { list } from "../model/untyped.ts";
import { resources } from "../talos/client/resources.ts";
import type { TalosService } from "../talos/client/talosClient.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { lazily } from "./lazily.ts";
import { away, everyNodeOurs, problemOf } from "./talos/nodeAnswers.ts";
import type { NodeView, Reading, TalosGateInputs } from "./talos/nodeView.ts";
import { failedServices, serviceWords } from "./talos/serviceWords.ts";

/** The stage that a node reports of itself. */
export interface Stage {
  readonly stage: string;
  readonly unmet: readonly { readonly name: string; readonly reason: string }[];
  /** Services that have failed, among those that are unmet. */
  readonly failed?: string | undefined;
}

type Observation = readonly NodeView<Stage>[];

type Facts = Pick<ClusterFacts, "talosNodes" | "talos" | "ground">;

/** Every node has its config and has booted as far as it can alone (S1.4): a worker runs; a control plane boots until etcd is bootstrapped, and then runs. */
export const stages: GateDefinition<TalosGateInputs, Observation, Facts> = {
  name: "Stages",
  timeoutCode: "SLU-T311",
  resource: "stages",
  proves: "every node has left maintenance",
  opensWhen:
    "every node has left maintenance and answers with this cluster's certificate; workers run, control planes boot or run",
  timeout: { key: "stages", seconds: 300 },
  canFlap: false,
  inputs: ({ talosNodes }) => ({ nodes: talosNodes }),
  credentials: ({ talos }) => talos,
  triggers: ({ ground }) => ground,
  conditions: () => [leftMaintenance, reachedStage, everyNodeOurs],
  observe: (inputs, signal, clock) =>
    lazily(async () => (await import("./talos/watchNodes.ts")).watchNodes(inputs, reading, signal, clock)),
  evidence: (views) => ({ nodes: views.map(({ node }) => node.name) }),
  words: ({ nodes }) => `${many(list(nodes), "node")} with their configs`,
};

const reading: Reading<Stage> = {
  follow: [resources.machineStatus],
  intervalMs: 5_000,
  read: async (client, options) => {
    const found = await client.get(resources.machineStatus, "machine", options);
    const { stage = "unknown", status } = (found?.spec ?? {}) as MachineStatus;
    const unmet = status?.unmetConditions ?? [];
    // "services" is no reason by itself; each unhealthy service has its own.
    const services = unmet.some(({ name }) => name === "services") ? await client.services(options) : [];
    return {
      stage,
      unmet: unmet.map((one) => (one.name === "services" ? inOwnWords(one, services) : one)),
      failed: failedServices(services),
    };
  },
};

/** The condition's reason is a list: "kubelet not running, cri not healthy". */
function inOwnWords({ name, reason }: Stage["unmet"][number], services: readonly TalosService[]) {
  const said = reason.split(", ").map((part) => {
    const service = services.find(({ id }) => part.startsWith(`${id} `));
    return service === undefined ? part : serviceWords(service);
  });
  return { name, reason: said.join(", ") };
}

interface MachineStatus {
  readonly stage?: string;
  readonly status?: { readonly unmetConditions?: Stage["unmet"] };
}

const leftMaintenance: Condition<Observation> = {
  phrase: "every node to leave maintenance",
  evaluate: (views) =>
    views.flatMap((view) => {
      if (view.problem !== undefined) return problemOf(view);
      return view.state?.kind === "maintenance" || view.facts === undefined ? [away(view)] : [];
    }),
};

const reachedStage: Condition<Observation> = {
  phrase: "every control plane to boot and every worker to run",
  evaluate: (views) => views.flatMap(stuck),
};

function stuck({ node, facts }: NodeView<Stage>): readonly Verdict[] {
  const reached = node.role === "worker" ? ["running"] : ["booting", "running"];
  if (facts === undefined || reached.includes(facts.stage)) return [];
  const unmet = facts.unmet.map(({ name, reason }) => `${name}: ${reason}`).join(", ");
  const reason = `is in stage ${facts.stage}, not ${reached.join(" or ")}${unmet === "" ? "" : `; unmet: ${unmet}`}`;
  const { failed } = facts;
  return [
    { kind: "pending", where: node.name, reason, log: "machined", ...(failed !== undefined && { stall: failed }) },
  ];
}
