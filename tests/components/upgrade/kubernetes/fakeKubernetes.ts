// A cluster whose nodes restart their components when their images change, as Talos does it, and what must never be true while they do.
import { stringify } from "yaml";
import type { Pod } from "../../../../components/kubernetes/objects.ts";
import { imageVersion, kubernetesImages } from "../../../../components/talos/config/kubernetesImages.ts";
import { ClusterAccess, type UpgradeLimits } from "../../../../components/upgrade/kubernetes/clusterAccess.ts";
import { staticComponents, type UpgradeNode } from "../../../../components/upgrade/kubernetes/nodeKubernetes.ts";
import { ClusterUpgrade, type UpgradeRequest } from "../../../../components/upgrade/kubernetes/upgradeCluster.ts";
import { credentials, type FakeNode, FakeWorld } from "../../talos/fakeNodes.ts";

/** Milliseconds until Talos has written what changed, until a pod is restarted with it, and until a kubelet is. */
const writtenMs = 800;
const restartedMs = 4_000;
const kubeletMs = 3_000;

export const image = (component: string, version: string) =>
  component === "kubelet" ? `ghcr.io/siderolabs/kubelet:v${version}` : `registry.k8s.io/${component}:v${version}`;

export function imagesOf(role: string, version: string): Record<string, string> {
  const components = role === "controlplane" ? [...staticComponents, "kubelet"] : ["kubelet"];
  return Object.fromEntries(components.map((component) => [component, image(component, version)]));
}

function configOf(role: string, version: string): string {
  const images = imagesOf(role, version);
  const { "kube-apiserver": apiServer, "kube-controller-manager": manager, "kube-scheduler": scheduler } = images;
  return stringify({
    version: "v1alpha1",
    machine: { type: role, token: "MARKER of the token", kubelet: { image: images.kubelet } },
    cluster: apiServer && {
      apiServer: { image: apiServer, extraArgs: { v: "2" } },
      controllerManager: { image: manager },
      scheduler: { image: scheduler },
    },
  });
}

/** A static pod's status. */
function status(component: string, runs: string, life: number, crash?: string): object {
  const container = { name: component, image: runs, containerID: `containerd://${life}`, restartCount: crash ? 3 : 0 };
  const terminated = { exitCode: 1, reason: "Error" };
  const state = crash
    ? { ready: false, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } }
    : { ready: true, state: { running: {} } };
  const conditions = [{ type: "Ready", status: crash ? "False" : "True" }];
  return { phase: "Running", startTime: `${life}`, conditions, containerStatuses: [{ ...container, ...state }] };
}

export class FakeKubernetes extends FakeWorld {
  /** What happened, in order: "cp-1 kube-apiserver 1.36.1". */
  readonly events: string[] = [];
  /** What must never be, and was. */
  readonly violations: string[] = [];
  /** What a component prints before it ends, by "cp-1 kube-apiserver 1.36.1". */
  readonly crashes = new Map<string, string>();
  /** The version that each kubelet has reported. */
  readonly reported = new Map<string, string>();
  /** The pods of a node. */
  readonly workload = new Map<string, Pod[]>();
  /** Calls of the API servers: `text` by "cp-1 /metrics". */
  readonly texts = new Map<string, string>();
  readonly lists = new Map<string, readonly object[]>();
  /** Called with each event. */
  onEvent: (event: string) => void = () => undefined;
  private lives = 0;
  private readonly roles = new Map<string, string>();
  /** The API servers that do not serve. */
  private readonly down = new Set<string>();

  constructor(version: string, names: readonly string[] = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]) {
    super();
    const controlPlanes = names.filter((name) => name.startsWith("cp"));
    for (const name of names) {
      const role = name.startsWith("cp") ? "controlplane" : "worker";
      const node = this.add(name).runs(configOf(role, version));
      this.roles.set(name, role);
      this.reported.set(name, version);
      node.kubelet.spec = { image: image("kubelet", version), args: ["--v=2"], config: {} };
      if (role === "worker") continue;
      node.etcd = { state: "Running", healthy: true };
      node.members = controlPlanes;
      for (const component of staticComponents) this.write(node, component, image(component, version));
      for (const component of staticComponents) this.start(node, component);
    }
    for (const [name, node] of this.nodes) {
      const boot = node.boot.bind(node);
      node.boot = () => {
        boot();
        this.follow(name, node);
      };
    }
    this.events.length = 0;
  }

  /** Talos follows the config that a node runs. */
  private follow(name: string, node: FakeNode): void {
    const wanted = kubernetesImages(node.running ?? "");
    const changed = staticComponents.filter((component) => {
      const is = wanted[component];
      return is !== undefined && this.roles.get(name) === "controlplane" && this.written(node, component) !== is;
    });
    const { image: kubelet } = node.kubelet.spec as { readonly image: string };
    this.clock.after(writtenMs, () => {
      for (const component of changed) this.write(node, component, wanted[component] ?? "");
      if (changed.length > 0) this.restart(node);
      if (wanted.kubelet !== undefined && wanted.kubelet !== kubelet) this.restartKubelet(node, wanted.kubelet);
      node.changed();
    });
  }

  /** As on real nodes of 1.13: with any of the three all are restarted. */
  private restart(node: FakeNode): void {
    this.setDown(node.name);
    this.clock.after(restartedMs, () => {
      for (const component of staticComponents) this.start(node, component);
    });
  }

  private restartKubelet(node: FakeNode, to: string): void {
    node.kubelet = { ...node.kubelet, spec: { ...(node.kubelet.spec as object), image: to }, healthy: false };
    const version = imageVersion(to)?.text ?? "";
    this.clock.after(kubeletMs, () => {
      node.kubelet = { ...node.kubelet, version: `${node.kubelet.version}+`, healthy: true };
      this.reported.set(node.name, version);
      this.event(`${node.name} kubelet ${version}`);
      for (const [at, server] of this.servers()) {
        if ((imageVersion(server)?.minor ?? 0) < (imageVersion(to)?.minor ?? 0)) {
          this.violations.push(`the kubelet of ${node.name} is newer than the API server of ${at}`);
        }
      }
      // Its static pods follow.
      if (this.roles.get(node.name) === "controlplane") this.restart(node);
    });
  }

  private setDown(name: string): void {
    this.down.add(name);
    if (this.down.size > 1) this.violations.push(`no API server on ${[...this.down].join(" and ")}`);
  }

  private written(node: FakeNode, component: string): string {
    const spec = node.pods.get(component)?.spec as { readonly containers: readonly { readonly image: string }[] };
    return spec?.containers[0]?.image ?? "";
  }

  private write(node: FakeNode, component: string, to: string): void {
    const spec = { containers: [{ name: component, image: to, command: [`/usr/local/bin/${component}`, "--v=2"] }] };
    node.pods.set(component, { manifest: to, spec, status: node.pods.get(component)?.status });
  }

  private start(node: FakeNode, component: string): void {
    const runs = this.written(node, component);
    this.lives += 1;
    const version = imageVersion(runs)?.text ?? "";
    const words = this.crashes.get(`${node.name} ${component} ${version}`);
    const before = node.pods.get(component);
    if (before === undefined) return;
    node.pods.set(component, { ...before, status: status(component, runs, this.lives, words) });
    if (words !== undefined) node.podLog = [`2026-01-01T00:00:00Z stderr F ${words}`];
    this.event(`${node.name} ${component} ${version}${words === undefined ? "" : " crashes"}`);
    if (component === "kube-apiserver" && words === undefined) this.down.delete(node.name);
    if (component !== "kube-apiserver") this.compare(node.name, component, version);
    node.changed();
  }

  private compare(name: string, component: string, version: string): void {
    const server = this.servers().get(name) ?? "";
    if ((imageVersion(server)?.minor ?? 0) < (imageVersion(`:v${version}`)?.minor ?? 0)) {
      this.violations.push(`${component} of ${name} is newer than its API server`);
    }
  }

  private servers(): ReadonlyMap<string, string> {
    const servers = [...this.nodes].filter(([name]) => this.roles.get(name) === "controlplane");
    return new Map(servers.map(([name, node]) => [name, this.written(node, "kube-apiserver")]));
  }

  /** A restart in the same version is none. */
  private event(text: string): void {
    if (this.events.includes(text)) return;
    this.events.push(text);
    this.onEvent(text);
  }

  isServing(name: string): boolean {
    return !this.down.has(name);
  }

  versionAt(name: string): string {
    const image = this.nodes.get(name)?.pods.get("kube-apiserver")?.status as {
      readonly containerStatuses: readonly { readonly image: string }[];
    };
    return imageVersion(image.containerStatuses[0]?.image ?? "")?.text ?? "";
  }

  upgradeNodes(): readonly UpgradeNode[] {
    return [...this.nodes.keys()].map((name) => {
      const role = this.roles.get(name) === "controlplane" ? "controlplane" : "worker";
      return { name, role, address: name, talosAddress: name, identity: {} };
    });
  }

  request(version: string, changes: Partial<UpgradeRequest> = {}): UpgradeRequest {
    const nodes = this.upgradeNodes();
    return {
      nodes,
      version,
      images: Object.fromEntries(nodes.map(({ name, role }) => [name, imagesOf(role, version)])),
      credentials,
      parallel: 1,
      acceptRemovedApis: [],
      limits: { pullSeconds: 60, nodeSeconds: 120, stableSeconds: 5 },
      ...changes,
    };
  }

  upgrade(version: string, changes: Partial<UpgradeRequest> = {}): ClusterUpgrade {
    const request = this.request(version, changes);
    return new ClusterUpgrade(request, this, new FakeAccess(request.nodes, request.limits, this));
  }
}

/** The Kubernetes API of these nodes. */
class FakeAccess extends ClusterAccess {
  private readonly world: FakeKubernetes;

  constructor(nodes: readonly UpgradeNode[], limits: UpgradeLimits, world: FakeKubernetes) {
    super(nodes, credentials, limits, world);
    this.world = world;
  }

  override async alone<T>(work: () => Promise<T>): Promise<T> {
    return await work();
  }

  override async serving({ name }: UpgradeNode): Promise<string> {
    if (!this.world.isServing(name)) this.world.violations.push(`${name} was treated as serving`);
    return name;
  }

  override async text(at: string, path: string): Promise<string> {
    if (path === "/version") return JSON.stringify({ gitVersion: `v${this.world.versionAt(at)}` });
    return this.world.texts.get(`${at} ${path}`) ?? "";
  }

  override async list<T>(path: string): Promise<readonly T[]> {
    const [, node = ""] = /spec\.nodeName%3D(.*)$/.exec(path) ?? [];
    return (this.world.workload.get(node) ?? this.world.lists.get(path) ?? []) as readonly T[];
  }

  override async kubernetes<T>(call: (objects: never, kubeconfig: string) => Promise<T>): Promise<T> {
    const get = async (path: string) => {
      const name = path.split("/").at(-1) ?? "";
      const conditions = [{ type: "Ready", status: "True" }];
      return {
        metadata: { name },
        status: { nodeInfo: { kubeletVersion: `v${this.world.reported.get(name)}` }, conditions },
      };
    };
    return await call({ get } as never, "the kubeconfig");
  }
}
