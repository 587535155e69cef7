import type { KubernetesObject } from "../kubernetes/objects.ts";
import { apiAnswers, type KubernetesCredentials, type Observed, observe } from "../kubernetes/observe.ts";
import type { VolumeProbe } from "../kubernetes/volumeProbe.ts";
import { daemonSetOnNodes } from "./daemonSetReady.ts";
import { deploymentReady } from "./deploymentReady.ts";
import type { Condition, GateDefinition } from "./gateDefinition.ts";
import { volumeTrial } from "./volumeTrial.ts";
import { imagesOf, type WorkloadKinds, workloadPaths } from "./workloads.ts";

export interface CsiReadyInputs {
  readonly credentials: KubernetesCredentials;
  /** As the driver calls itself: `csi.hetzner.cloud`. */
  readonly driver: string;
  readonly namespace: string;
  /** The Deployment that makes volumes. */
  readonly controller: string;
  /** The DaemonSet that mounts them. */
  readonly nodePlugin: string;
  /** Names of all nodes that are to have volumes. */
  readonly nodes: readonly string[];
  /** Where given, a volume of this class is made, used and taken away again before the gate opens. */
  readonly probe?: VolumeProbe;
}

interface CsiNode extends KubernetesObject {
  readonly spec: { readonly drivers?: readonly { readonly name: string }[] | null };
}
type Kinds = WorkloadKinds & { drivers: KubernetesObject; csiNodes: CsiNode };
type Observation = Observed<Kinds>;

/** The driver is known, its controller runs, and every node can mount. */
export const csiReady: GateDefinition<CsiReadyInputs, Observation> = {
  name: "CsiReady",
  timeoutCode: "SLU-K112",
  conditions: ({ driver, controller, nodePlugin, nodes }) => [
    apiAnswers,
    registered(driver),
    deploymentReady(controller, "SLU-K112"),
    daemonSetOnNodes(nodePlugin, nodes, "SLU-K112"),
    registeredOn(driver, nodes),
  ],
  observe: ({ credentials, namespace }, signal, clock) =>
    observe<Kinds>(
      credentials,
      {
        ...workloadPaths(namespace),
        drivers: "/apis/storage.k8s.io/v1/csidrivers",
        csiNodes: "/apis/storage.k8s.io/v1/csinodes",
      },
      signal,
      clock,
    ),
  evidence: ({ drivers, csiNodes, deployments }, { driver, controller, nodes }) => ({
    drivers: drivers.map(({ metadata }) => metadata.name).filter((name) => name === driver),
    nodes: nodes.filter((node) => hasDriver(csiNodes, node, driver)).toSorted(),
    images: Object.assign({}, ...deployments.filter(({ metadata }) => metadata.name === controller).map(imagesOf)),
  }),
  trial: ({ credentials, probe }) => (probe === undefined ? undefined : volumeTrial(credentials, probe)),
};

function registered(driver: string): Condition<Observation> {
  return {
    phrase: "the CSI driver to be known to Kubernetes",
    evaluate: ({ drivers }) =>
      drivers.some(({ metadata }) => metadata.name === driver)
        ? []
        : [{ kind: "pending", where: `CSIDriver ${driver}`, reason: "is not there" }],
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
