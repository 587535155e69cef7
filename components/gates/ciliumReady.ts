import type { KubernetesCredentials, Observed } from "../kubernetes/observe.ts";
import { list } from "../model/untyped.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { datapathTrial } from "./datapathTrial.ts";
import { imageVersions, many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { daemonSetOnNodes } from "./kubernetes/daemonSetReady.ts";
import { deploymentReady } from "./kubernetes/deploymentReady.ts";
import { imagesOf, type WorkloadKinds, workloadPaths } from "./kubernetes/workloads.ts";
import { lazily } from "./lazily.ts";

export interface CiliumReadyInputs {
  readonly credentials: KubernetesCredentials;
  /** Names of all nodes: Cilium must be ready on each of them. */
  readonly nodes: readonly string[];
  /** Whether no pod is to prove the datapath. */
  readonly isProbeOff?: true;
}

type Observation = Observed<WorkloadKinds>;

type Facts = Pick<ClusterFacts, "nodeNames" | "kubeconfig" | "cilium" | "ground">;

/** Cilium's agent is ready on every expected node, so is its operator, and pods reach the API through it. */
export const ciliumReady: GateDefinition<CiliumReadyInputs, Observation, Facts> = {
  name: "CiliumReady",
  timeoutCode: "SLU-K111",
  resource: "cilium-ready",
  proves: "Cilium is ready on every node",
  opensWhen:
    "Cilium's agent has its configured version and is ready on every expected node, and its operator too; with `cilium.probe`, a pod on every expected node has connected to the API by its Service address, for which there is the rest of the time, and at least a minute",
  timeout: { key: "cilium", seconds: 300 },
  canFlap: true,
  // Only what differs from the default, so that the state of an earlier version is unchanged.
  inputs: ({ nodeNames, cilium }) => ({ nodes: nodeNames, ...(!cilium.probe && { isProbeOff: true }) }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ cilium, ground }) => [...cilium.triggers, ...ground],
  conditions: ({ nodes }) => [
    apiAnswers,
    daemonSetOnNodes("cilium", nodes, "SLU-K111"),
    deploymentReady("cilium-operator", "SLU-K111"),
  ],
  observe: ({ credentials }, signal, clock) =>
    lazily(async () => {
      const { observe } = await import("../kubernetes/observe.ts");
      return observe<WorkloadKinds>(credentials, workloadPaths("kube-system"), signal, clock);
    }),
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
  trial: ({ credentials, nodes, isProbeOff }) => (isProbeOff ? undefined : datapathTrial(credentials, nodes)),
  words({ nodes, images, datapath }) {
    const tried = datapath === undefined ? "" : ", pods reach the API";
    return `Cilium ${imageVersions(images)} on ${many(list(nodes), "node")}${tried}`;
  },
};
