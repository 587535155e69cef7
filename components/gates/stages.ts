import { resources } from "../talos/client/resources.ts";
import type { TalosService } from "../talos/client/talosClient.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { away, everyNodeOurs, problemOf } from "./nodeAnswers.ts";
import type { NodeView, Reading, TalosGateInputs } from "./nodeView.ts";
import { serviceWords } from "./serviceWords.ts";
import { watchNodes } from "./watchNodes.ts";

/** A node's own word of how far it is. */
export interface Stage {
  readonly stage: string;
  readonly unmet: readonly { readonly name: string; readonly reason: string }[];
}

type Observation = readonly NodeView<Stage>[];

/**
 * Every node has taken its config and has come as far as it can alone (S1.4): a worker runs; a control plane boots until etcd is bootstrapped, and
 * runs after that.
 */
export const stages: GateDefinition<TalosGateInputs, Observation> = {
  name: "Stages",
  timeoutCode: "SLU-T311",
  conditions: () => [leftMaintenance, reachedStage, everyNodeOurs],
  observe: (inputs, signal, clock) => watchNodes(inputs, reading, signal, clock),
  evidence: (views) => ({ nodes: views.map(({ node }) => node.name) }),
};

const reading: Reading<Stage> = {
  follow: [resources.machineStatus],
  every: 5_000,
  read: async (client, options) => {
    const found = await client.get(resources.machineStatus, "machine", options);
    const { stage = "unknown", status } = (found?.spec ?? {}) as MachineStatus;
    const unmet = status?.unmetConditions ?? [];
    // That a service does not run is no reason; the service has one.
    const services = unmet.some(({ name }) => name === "services") ? await client.services(options) : [];
    return { stage, unmet: unmet.map((one) => (one.name === "services" ? inOwnWords(one, services) : one)) };
  },
};

/** Its reason is a list: "kubelet not running, cri not healthy". */
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
  return [{ kind: "pending", where: node.name, reason }];
}
