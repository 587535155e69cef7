import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import { daemonSetOnNodes } from "./daemonSetReady.ts";
import { deploymentReady } from "./deploymentReady.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { imagesOf, type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface CiliumReadyInputs {
  readonly credentials: KubernetesCredentials;
  /** Names of all nodes: on each of them Cilium has to be ready. */
  readonly nodes: readonly string[];
}

type Observation = Observed<WorkloadKinds>;

/** Cilium's agent on every node that there should be, and its operator. */
export const ciliumReady: GateDefinition<CiliumReadyInputs, Observation> = {
  name: "CiliumReady",
  timeoutCode: "SLU-K111",
  conditions: ({ nodes }) => [
    apiAnswers,
    daemonSetOnNodes("cilium", nodes, "SLU-K111"),
    deploymentReady("cilium-operator", "SLU-K111"),
  ],
  observe: ({ credentials }, signal, clock) =>
    observe<WorkloadKinds>(credentials, workloadPaths("kube-system"), signal, clock),
  evidence({ daemonSets, pods }, { nodes }) {
    const agent = daemonSets.find(({ metadata }) => metadata.name === "cilium");
    const on = pods
      .filter(({ metadata }) => metadata.labels?.["k8s-app"] === "cilium")
      .map(({ spec }) => spec?.nodeName);
    return {
      nodes: nodes.filter((node) => on.includes(node)).toSorted(),
      images: agent === undefined ? {} : imagesOf(agent),
    };
  },
};
