// Brings every node of a cluster to a version of Kubernetes: everything is checked before the first node is changed, and the first failure stops all.
import { type BackupPolicy, backupFirst } from "../../backup/backupFirst.ts";
import { resume } from "../../engine/interruption.ts";
import type { Note } from "../../engine/resourceProvider.ts";
import { SluiceError } from "../../errors/sluiceError.ts";
import { type NodeResourceContext, using } from "../../talos/access/nodeAccess.ts";
import { asFailure, endFailure } from "../../talos/access/nodeFailure.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { type KubernetesImages, upgradedImage } from "../../talos/config/kubernetesImages.ts";
import { lookAtEtcd } from "../../talos/etcd/etcdPresence.ts";
import type { Parallel } from "../../talos/nodes/lanes.ts";
import { type Polled, poll } from "../../waiting/poll.ts";
import { NodeRows } from "../talos/nodeRows.ts";
import { inLanes, type UpgradeStep } from "../talos/upgradeOrder.ts";
import { ClusterAccess, type UpgradeLimits } from "./clusterAccess.ts";
import { componentsRun } from "./componentProof.ts";
import { applyManifests, manifestChanges } from "./manifests.ts";
import { behind, componentsOf, readKubernetes, type UpgradeNode, versionsOf } from "./nodeKubernetes.ts";
import { NodeUpgrade } from "./nodeUpgrade.ts";
import { type ObservedNode, refuseRemoved } from "./obstacles.ts";
import { pullImages } from "./pullImages.ts";
import { kubeletSteps } from "./upgradeOrder.ts";
import { hasOlder, type LiveNode, type UpgradePath, upgradePath } from "./upgradePath.ts";

export interface UpgradeRequest {
  readonly nodes: readonly UpgradeNode[];
  readonly version: string;
  /** Those in the machine config that each node will have, by node name. */
  readonly images: Readonly<Record<string, KubernetesImages>>;
  readonly credentials: TalosCredentials;
  readonly backup?: BackupPolicy | undefined;
  readonly parallel: Parallel;
  readonly acceptRemovedApis: readonly string[];
  readonly limits: UpgradeLimits;
}

/** Seconds for all nodes to answer, of which some may just be booting. */
const answerSeconds = 120;
/** Seconds for a call that a node answers at once or not at all. */
const shortCallSeconds = 5;

/** How many seconds the parts of each node took. */
export type NodeSeconds = Readonly<Record<string, number>>;

/** An upgrade that failed or was interrupted, with the times of the nodes that are done. */
export class UpgradeStopped extends Error {
  readonly seconds: NodeSeconds;

  constructor(cause: SluiceError, seconds: NodeSeconds) {
    super(cause.message, { cause });
    this.seconds = seconds;
  }
}

export class ClusterUpgrade {
  private readonly request: UpgradeRequest;
  private readonly context: NodeResourceContext;
  private readonly cluster: ClusterAccess;
  private readonly rows: NodeRows;
  private readonly seconds: Record<string, number> = {};

  constructor(
    request: UpgradeRequest,
    context: NodeResourceContext,
    cluster = new ClusterAccess(request.nodes, request.credentials, request.limits, context),
  ) {
    this.request = request;
    this.context = context;
    this.cluster = cluster;
    this.rows = new NodeRows(context.report);
  }

  /**
   * Returns how long the nodes took that were changed. Nodes without a config, and a cluster that was never bootstrapped, get the version with their configs.
   * With `onlyIfOlder` nothing is done if no node that answers runs an older version: then somebody has upgraded them, and nobody has asked for anything else.
   */
  async run({ onlyIfOlder = false } = {}): Promise<NodeSeconds> {
    const { seconds } = this;
    this.context.report("observes what the nodes run");
    if (onlyIfOlder && !(await this.isOlder())) return seconds;
    const observed = await this.observe();
    if (!(await this.hasEtcd())) return seconds;
    try {
      await this.upgrade(observed);
    } catch (error) {
      throw new UpgradeStopped(await this.explained(error), seconds);
    }
    return seconds;
  }

  /** What would refuse the upgrade now, and which manifests it would change. Nothing is changed. */
  async lookAhead(): Promise<readonly Note[]> {
    const { cluster, context, request } = this;
    const observed = await this.observe();
    try {
      const path = upgradePath(observed.map(asLive), request.version);
      if (path === undefined || !(await this.hasEtcd())) return [];
      await refuseRemoved(observed, path, { cluster, accepted: request.acceptRemovedApis }, context);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      return [{ text: `the upgrade would be refused now: ${error.message}`, as: "warning" }];
    }
    const changes = await manifestChanges(cluster, context);
    return changes.length === 0
      ? []
      : [{ text: ["manifests of Talos as of now:", ...changes].join("\n  "), as: "info" }];
  }

  private async upgrade(observed: readonly ObservedNode[]): Promise<void> {
    const { cluster, context, request } = this;
    const path = upgradePath(observed.map(asLive), request.version);
    // Also where all nodes run the version: an earlier run may have ended before this.
    if (path === undefined) return await cluster.alone(() => applyManifests(cluster, context));
    await this.recover(observed);
    await refuseRemoved(observed, path, { cluster, accepted: request.acceptRemovedApis }, context);
    await this.pull(observed);
    await cluster.alone(async () => {
      // Another run may have ended since.
      const current = await this.observe();
      upgradePath(current.map(asLive), request.version);
      await this.backUp(path);
      const controlPlanes = current.filter(({ node }) => node.role === "controlplane");
      // Also those that run the version already: an earlier run may have ended before they were healthy.
      await this.step({ nodes: controlPlanes, lanes: 1 }, "control plane", (upgrade) => upgrade.controlPlane());
      const todo = current.filter((one) => this.isBehind(one));
      for (const step of kubeletSteps(todo, request.parallel)) {
        await this.step(step, "kubelet", (upgrade) => upgrade.kubelet());
      }
      await applyManifests(cluster, context);
    });
    await context.note(`Kubernetes ${path.from.text} -> ${path.to.text} on ${observed.length} nodes`, "info");
  }

  /** Whether a node that answers at once runs an older version. One that does not is judged when it gets its config. */
  private async isOlder(): Promise<boolean> {
    const looks = await Promise.all(this.request.nodes.map((node) => this.look(node)));
    const live = looks.flatMap((look) => ("found" in look ? look.found.map(asLive) : []));
    return hasOlder(live, this.request.version);
  }

  /** The nodes that have a config of this cluster. */
  private async observe(): Promise<readonly ObservedNode[]> {
    const until = this.context.clock.now() + answerSeconds * 1000;
    const options = { ...this.context, until: () => until };
    const all = await Promise.all(this.request.nodes.map((node) => poll(() => this.look(node), options)));
    return all.flat();
  }

  private async look(node: UpgradeNode): Promise<Polled<readonly ObservedNode[]>> {
    const { access } = this.context;
    const state = await access.probe(node.talosAddress, this.request.credentials);
    if (state.kind === "maintenance") return { found: [] };
    if (state.kind === "foreign") throw new SluiceError({ code: "SLU-T109", where: node.name, seen: state.why });
    if (state.kind !== "ours") return { late: silent(node, "why" in state ? state.why : `stage ${state.stage}`) };
    try {
      const options = { deadlineSeconds: shortCallSeconds };
      const kubernetes = await using(this.cluster.open(node), (client) => readKubernetes(client, options));
      return { found: [{ node, kubernetes }] };
    } catch (error) {
      return { late: silent(node, asFailure(error, "SLU-T101").seen) };
    }
  }

  private isBehind({ node: { role }, kubernetes }: ObservedNode): boolean {
    return behind(kubernetes, role, this.request.version).length > 0;
  }

  /** Before its bootstrap a cluster has nothing to lose. */
  private async hasEtcd(): Promise<boolean> {
    const { controlPlanes, credentials } = this.cluster;
    const looks = await Promise.all(controlPlanes.map((peer) => lookAtEtcd(peer, credentials, this.context)));
    return looks.some(({ kind }) => kind === "there");
  }

  /** What an earlier run has changed must serve before anything else can be asked. */
  private async recover(observed: readonly ObservedNode[]): Promise<void> {
    const { cluster, context, request } = this;
    for (const { node } of observed.filter(({ node: { role } }) => role === "controlplane")) {
      const report = (text: string) => context.report(`${node.name}: ${text}`);
      await this.failing(node, async () => {
        const images = request.images[node.name] ?? {};
        const target = { node, version: request.version, images };
        await new NodeUpgrade(target, cluster, { ...context, report }).setBackIfCrashing();
        const wait = { name: node.name, open: () => cluster.open(node), until: cluster.until(), stableSeconds: 0 };
        await componentsRun({ components: [], version: request.version }, wait, { ...context, report });
      });
    }
  }

  private async pull(observed: readonly ObservedNode[]): Promise<void> {
    const { cluster, context, request } = this;
    const nodes = observed.map(({ node, kubernetes: { talos, wanted } }) => {
      const images = componentsOf(node.role).flatMap((component) => {
        const image = request.images[node.name]?.[component];
        return image === undefined ? [] : [[component, upgradedImage(wanted[component] ?? image, image)] as const];
      });
      return { node, talos, images: Object.fromEntries(images) };
    });
    await pullImages(nodes, (node) => cluster.open(node), request.limits.pullSeconds, context);
  }

  private async backUp({ from, to }: UpgradePath): Promise<void> {
    const { backup, credentials } = this.request;
    if (backup === undefined) return;
    const { controlPlanes } = this.cluster;
    const reason = `before Kubernetes ${from.text} is upgraded to ${to.text}`;
    // The environment's file has the new version already.
    const policy = { ...backup, cluster: { ...backup.cluster, kubernetesVersion: from.text } };
    await backupFirst(policy, { controlPlanes, credentials }, reason, this.context);
  }

  private async step(
    step: UpgradeStep<ObservedNode>,
    part: string,
    work: (upgrade: NodeUpgrade) => Promise<void>,
  ): Promise<void> {
    const { cluster, context, request, rows } = this;
    let place = 0;
    const failures = await inLanes(step, async ({ node }) => {
      place += 1;
      const [number, began] = [place, context.clock.now()];
      const report = (text: string) => rows.of(node.name)(`${part} ${number} of ${step.nodes.length}: ${text}`);
      try {
        const target = { node, version: request.version, images: request.images[node.name] ?? {} };
        await this.failing(node, () => work(new NodeUpgrade(target, cluster, { ...context, report })));
        const took = (context.clock.now() - began) / 1000;
        this.seconds[node.name] = Math.round((this.seconds[node.name] ?? 0) + took);
      } finally {
        rows.done(node.name);
      }
    });
    const [first, ...others] = failures.map(({ error }) => error);
    if (first === undefined) return;
    if (others.length === 0 || !(first instanceof SluiceError)) throw first;
    throw first.with({ others: others.map((error) => asFailure(error, "SLU-K305").details) });
  }

  /** Adds to a failure which node it is about. */
  private async failing(node: UpgradeNode, work: () => Promise<void>): Promise<void> {
    const { clock, interrupted } = this.context;
    const began = clock.now();
    try {
      await work();
    } catch (error) {
      if (interrupted?.aborted) throw error;
      const what = `the node to run Kubernetes ${this.request.version}`;
      const seconds = (clock.now() - began) / 1000;
      throw endFailure(asFailure(error, "SLU-K305"), { node: node.name, what, state: "ours", attempts: 1, seconds });
    }
  }

  /** Every failure says what each node runs. */
  private async explained(error: unknown): Promise<SluiceError> {
    const runs = await this.inWords();
    if (this.context.interrupted?.aborted) {
      return new SluiceError({ subject: "Interrupted while Kubernetes was upgraded", seen: runs, remedy: resume });
    }
    const failure = asFailure(error, "SLU-K305");
    return failure.details.others === undefined
      ? failure.with({ seen: `${failure.seen}\n${runs}` })
      : failure.with({ subject: runs });
  }

  /** What the nodes run now, as far as they say at once. */
  private async inWords(): Promise<string> {
    const options = { deadlineSeconds: shortCallSeconds };
    const runs = await Promise.all(
      this.request.nodes.map(async (node) => {
        const kubernetes = await using(this.cluster.open(node), (client) => readKubernetes(client, options)).catch(
          () => undefined,
        );
        return {
          name: node.name,
          words: kubernetes === undefined ? "does not answer" : versionsOf(kubernetes, node.role),
        };
      }),
    );
    const groups = [...Map.groupBy(runs, ({ words }) => words)];
    return `now ${groups.map(([words, nodes]) => `${nodes.map(({ name }) => name).join(", ")}: ${words}`).join("; ")}`;
  }
}

function asLive({ node, kubernetes }: ObservedNode): LiveNode {
  return { ...node, kubernetes };
}

function silent({ name: where }: UpgradeNode, why: string): SluiceError {
  return new SluiceError({ code: "SLU-T101", where, seen: `${why}. Nothing was changed` });
}
