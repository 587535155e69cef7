// Brings the Kubernetes of one node to another version. Each step first checks whether it is already done; a version that does not run is set back.
import { SluiceError } from "../../errors/sluiceError.ts";
import type { KubernetesNode } from "../../kubernetes/objects.ts";
import { servingFault } from "../../talos/access/controlPlaneComponents.ts";
import { type NodeContext, using } from "../../talos/access/nodeAccess.ts";
import {
  imageVersion,
  type KubernetesComponent,
  type KubernetesImages,
  upgradedImage,
} from "../../talos/config/kubernetesImages.ts";
import { memberIsHealthy } from "../../talos/etcd/etcdPresence.ts";
import { poll } from "../../waiting/poll.ts";
import type { ClusterAccess } from "./clusterAccess.ts";
import { type ComponentWait, componentsRun } from "./componentProof.ts";
import { componentsOf, readKubernetes, type UpgradeNode } from "./nodeKubernetes.ts";
import { podsRecover, readyPods } from "./nodePods.ts";
import { setImages } from "./setImages.ts";

/** The wanted version, and its images on the node. */
export interface NodeTarget {
  readonly node: UpgradeNode;
  readonly version: string;
  readonly images: KubernetesImages;
}

/** The API server alone first; the others ask that of their own node, so they may not be newer. kube-proxy is a manifest. */
const groups: readonly (readonly KubernetesComponent[])[] = [
  ["kube-apiserver"],
  ["kube-controller-manager", "kube-scheduler", "kube-proxy"],
];
/** Seconds for which a part must be healthy at least: Talos may restart the other parts of the node a moment later. */
const partSeconds = 2;

export class NodeUpgrade {
  private readonly target: NodeTarget;
  private readonly cluster: ClusterAccess;
  private readonly context: NodeContext;

  constructor(target: NodeTarget, cluster: ClusterAccess, context: NodeContext) {
    this.target = target;
    this.cluster = cluster;
    this.context = context;
  }

  /** API server, controller manager and scheduler of a control plane. */
  async controlPlane(): Promise<void> {
    const { cluster, context, target } = this;
    const { node, version } = target;
    await this.othersServe();
    const now = await using(cluster.open(node), (client) => readKubernetes(client));
    const isNewer = minorOf(now.wanted["kube-apiserver"]) > minorOf(`:v${version}`);
    const inOrder = isNewer ? groups.toReversed() : groups;
    for (const components of inOrder) {
      cluster.checkGoAhead();
      const isLast = components === inOrder.at(-1);
      await this.change(components, isLast ? cluster.limits.stableSeconds : 0);
      if (components.includes("kube-apiserver")) await this.apiServerAnswers(version);
    }
    await memberIsHealthy(node.name, { open: () => cluster.open(node), until: cluster.until() }, context);
  }

  async kubelet(): Promise<void> {
    const { cluster, context, target } = this;
    const { node, version } = target;
    if (node.role === "controlplane") await this.othersServe();
    const pods = await readyPods(node.name, cluster, context);
    cluster.checkGoAhead();
    const until = cluster.until();
    await this.change(["kubelet"], cluster.limits.stableSeconds, () => this.nodeReports(version, until));
    await podsRecover(node.name, pods, { cluster, until: cluster.until() }, context);
  }

  /** Sets back what an earlier run has left with a component that does not start: without its API server a cluster with one control plane cannot be asked anything. */
  async setBackIfCrashing(): Promise<void> {
    const { cluster, target } = this;
    const { node, version } = target;
    const now = await using(cluster.open(node), (client) => readKubernetes(client));
    const [server, kubelet] = [
      imageVersion(now.wanted["kube-apiserver"] ?? ""),
      imageVersion(now.wanted.kubelet ?? ""),
    ];
    if (server?.text === kubelet?.text || !servingFault(now.components)?.isPermanent) return;
    if (server?.text === version) await this.prove(groups.flat(), 0);
    else await this.setBack(groups.flat(), {});
  }

  /** At most one API server may be down. */
  private async othersServe(): Promise<void> {
    const { cluster, context, target } = this;
    const others = cluster.controlPlanes.filter(({ name }) => name !== target.node.name);
    const until = cluster.until();
    for (const other of others) {
      const wait = { ...this.wait(0), name: other.name, open: () => cluster.open(other), until };
      const report = (text: string) => context.report(`waits for ${other.name}: ${text}`);
      await componentsRun({ components: [], version: "" }, wait, { ...context, report }).catch((error: unknown) => {
        throw error instanceof SluiceError
          ? error.with({ seen: `not changed, because ${other.name} does not serve: ${error.seen}` })
          : error;
      });
      await cluster.serving(other, context, until);
    }
  }

  private async change(
    components: readonly KubernetesComponent[],
    stableSeconds: number,
    then: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const { cluster, context, target } = this;
    const images = imagesOf(target.images, components);
    const { node } = target;
    const had = await setImages({ node, images, credentials: cluster.credentials, until: cluster.until() }, context);
    await this.prove(components, stableSeconds, { had, then });
  }

  /** Waits until the components run in the wanted version. If they do not, the node gets its former images. */
  private async prove(
    components: readonly KubernetesComponent[],
    stableSeconds: number,
    { had = {}, then }: { readonly had?: KubernetesImages; readonly then?: () => Promise<void> } = {},
  ): Promise<void> {
    const { context, target } = this;
    try {
      await then?.();
      const wait = this.wait(Math.max(partSeconds, stableSeconds));
      await componentsRun({ components: own(components), version: target.version }, wait, context);
    } catch (error) {
      const isOfVersion = error instanceof SluiceError && (error.code === "SLU-K304" || error.code === "SLU-K305");
      if (!isOfVersion || context.interrupted?.aborted) throw error;
      throw error.with({ seen: `${error.seen}\n${await this.setBack(components, had)}` });
    }
  }

  /** In words. */
  private async setBack(components: readonly KubernetesComponent[], had: KubernetesImages): Promise<string> {
    const { cluster, context, target } = this;
    const { node } = target;
    const images = Object.keys(had).length > 0 ? had : await this.formerImages(components).catch(() => ({}));
    const version = Object.values<string>(images).map((image) => imageVersion(image)?.text)[0];
    if (version === undefined) return `${node.name} keeps the version: which one it ran before is not known`;
    context.report(`is set back to ${version}`);
    try {
      await setImages({ node, images, credentials: cluster.credentials, until: cluster.until() }, context);
      await componentsRun({ components: own(components), version }, this.wait(partSeconds), context);
      return `${node.name} was set back to ${version}, and is healthy`;
    } catch (error) {
      return `${node.name} was set back to ${version}, but is not healthy: ${(error as Error).message}`;
    }
  }

  /** The kubelet is changed last, so until then it has the former version. */
  private async formerImages(components: readonly KubernetesComponent[]): Promise<KubernetesImages> {
    const { wanted } = await using(this.cluster.open(this.target.node), (client) => readKubernetes(client));
    const former = wanted.kubelet ?? "";
    const images = Object.entries(imagesOf(wanted, components)).map(
      ([component, image]) => [component, image, upgradedImage(image, former)] as const,
    );
    const changed = images.filter(([, image, to]) => imageVersion(image)?.text !== imageVersion(to)?.text);
    return Object.fromEntries(changed.map(([component, , to]) => [component, to]));
  }

  /** Through the node's own address. */
  private async apiServerAnswers(version: string): Promise<void> {
    const { cluster, context, target } = this;
    const until = cluster.until();
    const look = async () => {
      const kubeconfig = await cluster.serving(target.node, context, until);
      const { gitVersion } = JSON.parse(await cluster.text(kubeconfig, "/version"));
      if (gitVersion === `v${version}`) return { found: true };
      return { late: new SluiceError({ code: "SLU-K305", seen: `its API server says that it is ${gitVersion}` }) };
    };
    await poll(look, { ...context, until: () => until });
  }

  /** The kubelet itself writes its version. */
  private async nodeReports(version: string, until: number): Promise<void> {
    const { cluster, context, target } = this;
    const { name } = target.node;
    const look = async () => {
      const now = await using(cluster.open(target.node), (client) => readKubernetes(client)).catch(() => undefined);
      const fault = now && servingFault(now.components);
      if (fault?.isPermanent) throw new SluiceError({ code: "SLU-K304", seen: fault.seen });
      const node = await cluster.kubernetes((objects) => objects.get<KubernetesNode>(`/api/v1/nodes/${name}`), context);
      const why = notUpgradedBecause(node, version);
      if (why === undefined) return { found: true };
      context.report(why);
      return { late: new SluiceError({ code: "SLU-K305", seen: why }) };
    };
    await poll(look, { ...context, until: () => until });
  }

  private wait(stableSeconds: number): ComponentWait {
    const { cluster, target } = this;
    return { name: target.node.name, open: () => cluster.open(target.node), until: cluster.until(), stableSeconds };
  }
}

/** Undefined if the kubelet of the Node runs the version and is Ready. */
export function notUpgradedBecause(node: KubernetesNode | undefined, version: string): string | undefined {
  if (node === undefined) return "there is no Node in Kubernetes";
  const { nodeInfo, conditions } = node.status ?? {};
  if (nodeInfo?.kubeletVersion !== `v${version}`) return `its kubelet reports version ${nodeInfo?.kubeletVersion}`;
  const ready = conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "True" ? undefined : `its Node is not Ready: ${ready?.message ?? "no reason is given"}`;
}

function imagesOf(images: KubernetesImages, components: readonly KubernetesComponent[]): KubernetesImages {
  return Object.fromEntries(Object.entries(images).filter(([name]) => components.some((one) => one === name)));
}

/** 0 if the image has no version. */
function minorOf(image = ""): number {
  return imageVersion(image)?.minor ?? 0;
}

/** Those that run on the node itself. */
function own(components: readonly KubernetesComponent[]): readonly KubernetesComponent[] {
  const all = componentsOf("controlplane");
  return components.filter((component) => all.includes(component));
}
