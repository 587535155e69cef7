import type { KubernetesObject } from "../kubernetes/objects.ts";
import type { KubernetesCredentials, Observed } from "../kubernetes/observe.ts";
import type { VolumeProbe } from "../kubernetes/volumeProbe.ts";
import { list } from "../model/untyped.ts";
import type { Condition } from "../waiting/condition.ts";
import type { ClusterFacts, VolumeFacts } from "./clusterFacts.ts";
import { distinct, many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { daemonSetOnNodes } from "./kubernetes/daemonSetReady.ts";
import { deploymentReady } from "./kubernetes/deploymentReady.ts";
import { imagesOf, type WorkloadKinds, workloadPaths } from "./kubernetes/workloads.ts";
import { lazily } from "./lazily.ts";
import { volumeTrial } from "./volumeTrial.ts";

export interface CsiReadyInputs {
  readonly credentials: KubernetesCredentials;
  /** The driver's name: `csi.hetzner.cloud`. */
  readonly driver: string;
  readonly namespace: string;
  /** The Deployment that provisions volumes. */
  readonly controller: string;
  /** The DaemonSet that mounts them. */
  readonly nodePlugin: string;
  /** Names of all nodes that must be able to have volumes. */
  readonly nodes: readonly string[];
  /** If set, a volume of this class is created, mounted and deleted again before the gate opens. */
  readonly probe?: VolumeProbe;
}

interface CsiNode extends KubernetesObject {
  readonly spec: { readonly drivers?: readonly { readonly name: string }[] | null };
}
type Kinds = WorkloadKinds & { drivers: KubernetesObject; csiNodes: CsiNode };
type Observation = Observed<Kinds>;

type Facts = Pick<ClusterFacts, "nodeNames" | "kubeconfig" | "ground"> & { readonly volumes: VolumeFacts };

/** The driver is registered, its controller runs, and every node can mount volumes. */
export const csiReady: GateDefinition<CsiReadyInputs, Observation, Facts> = {
  name: "CsiReady",
  timeoutCode: "SLU-K112",
  resource: "csi-ready",
  proves: "every node can have volumes",
  opensWhen:
    "the driver is registered, its controller runs, every kubelet has it; with `csi.probe`, a volume was created, mounted and deleted again, for which there is the rest of the time, and at least a minute",
  timeout: { key: "csi", seconds: 300 },
  canFlap: true,
  part: "volumes",
  inputs: ({ nodeNames, volumes: { driver, namespace, controller, nodePlugin, probe } }) => ({
    driver,
    namespace,
    controller,
    nodePlugin,
    nodes: nodeNames,
    ...(probe !== undefined && { probe }),
  }),
  credentials: ({ kubeconfig }) => ({ kubeconfig }),
  triggers: ({ volumes, ground }) => [...volumes.triggers, ...ground],
  secretTriggers: ({ volumes }) => volumes.secretTriggers,
  conditions: ({ driver, controller, nodePlugin, nodes }) => [
    apiAnswers,
    registered(driver),
    deploymentReady(controller, "SLU-K112"),
    daemonSetOnNodes(nodePlugin, nodes, "SLU-K112"),
    registeredOn(driver, nodes),
  ],
  observe: ({ credentials, namespace }, signal, clock) =>
    lazily(async () => {
      const { observe } = await import("../kubernetes/observe.ts");
      const paths = {
        ...workloadPaths(namespace),
        drivers: "/apis/storage.k8s.io/v1/csidrivers",
        csiNodes: "/apis/storage.k8s.io/v1/csinodes",
      };
      return observe<Kinds>(credentials, paths, signal, clock);
    }),
  evidence: ({ drivers, csiNodes, deployments }, { driver, controller, nodes }) => ({
    drivers: drivers.map(({ metadata }) => metadata.name).filter((name) => name === driver),
    nodes: nodes.filter((node) => hasDriver(csiNodes, node, driver)).toSorted(),
    images: Object.assign({}, ...deployments.filter(({ metadata }) => metadata.name === controller).map(imagesOf)),
  }),
  trial: ({ credentials, probe }) => (probe === undefined ? undefined : volumeTrial(credentials, probe)),
  words({ drivers, nodes, volume }) {
    const tried = volume === undefined ? "" : ", a volume mounted";
    return `${distinct(list(drivers))} on ${many(list(nodes), "node")}${tried}`;
  },
};

function registered(driver: string): Condition<Observation> {
  return {
    phrase: "the CSI driver to be known to Kubernetes",
    evaluate: ({ drivers }) =>
      drivers.some(({ metadata }) => metadata.name === driver)
        ? []
        : [{ kind: "pending", where: `CSIDriver ${driver}`, reason: "does not exist" }],
  };
}

function registeredOn(driver: string, nodes: readonly string[]): Condition<Observation> {
  return {
    phrase: "the CSI driver to be registered with every kubelet",
    evaluate: ({ csiNodes }) =>
      nodes
        .filter((node) => !hasDriver(csiNodes, node, driver))
        .map((where) => ({ kind: "pending", where, reason: `its CSINode does not list ${driver}` })),
  };
}

function hasDriver(csiNodes: readonly CsiNode[], node: string, driver: string): boolean {
  const there = csiNodes.find(({ metadata }) => metadata.name === node)?.spec.drivers ?? [];
  return there.some(({ name }) => name === driver);
}
