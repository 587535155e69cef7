// The cluster whose nodes are upgraded, as the work on each of them needs it.
import { SluiceError } from "../../errors/sluiceError.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import type { KubernetesObjects } from "../../kubernetes/kubernetesObjects.ts";
import type { KubernetesNode, KubernetesObject, Pod } from "../../kubernetes/objects.ts";
import { ChangeProof } from "../../lifecycle/changeProof.ts";
import { drain } from "../../lifecycle/drain.ts";
import type { MachineIdentity } from "../../model/machine.ts";
import type { Peer } from "../../model/peer.ts";
import type { NodeContext } from "../../talos/access/nodeAccess.ts";
import { using } from "../../talos/access/nodeAccess.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { EtcdMembers } from "../../talos/etcd/etcdMembers.ts";
import { administratorAccess, asAdministrator } from "../../talos/etcd/kubernetesAccess.ts";
import { componentsServe } from "../../talos/nodes/componentHealth.ts";
import { poll } from "../../waiting/poll.ts";
import { type DisruptionBudget, impossibleBudgets } from "../disruptionBudgets.ts";
import { cordonForUpgrade, endOwnCordon, isOwnCordon } from "../ownCordon.ts";
import { type StorageObjects, storageFaults, storagePaths } from "../storageHealth.ts";
import { takeUpgradeLease, type UpgradeLease } from "../upgradeLease.ts";
import type { SystemTarget } from "./systemUpgrade.ts";

/** A node of the cluster, with the Talos that it should run. */
export interface UpgradeNode extends SystemTarget, Peer {
  readonly name: string;
  readonly talosAddress: string;
  /** What identifies the machine; no other machine is changed. */
  readonly identity: MachineIdentity;
}

export interface UpgradeLimits {
  /** Whether the pods of a node are evicted before it goes down. */
  readonly drain: boolean;
  readonly drainSeconds: number;
  /** For a node to install the new system and be ready with it. */
  readonly nodeSeconds: number;
  /** For etcd and the other control planes to be healthy before one goes down. */
  readonly quorumSeconds: number;
  /** Whether volumes are waited for. */
  readonly volumes: boolean;
  /** For volumes to be as they should be. */
  readonly storageSeconds: number;
}

/** Seconds for Kubernetes to answer a call: while the only API server reboots it answers nothing. */
const kubernetesSeconds = 300;
/** The same for a call that is repeated anyway, or that nothing depends on. */
const briefSeconds = 10;
/** Milliseconds for a list. */
const listDeadlineMs = 10_000;
/** Seconds for a call that a node answers at once or not at all. */
const shortCallSeconds = 5;

export class UpgradedCluster {
  readonly nodes: readonly UpgradeNode[];
  readonly controlPlanes: readonly UpgradeNode[];
  readonly credentials: TalosCredentials;
  readonly limits: UpgradeLimits;
  private readonly context: NodeContext;
  /** Faults of volumes that were there before the first node was changed. */
  private knownFaults: ReadonlySet<string> = new Set();
  private lease: UpgradeLease | undefined;

  constructor(
    nodes: readonly UpgradeNode[],
    credentials: TalosCredentials,
    limits: UpgradeLimits,
    context: NodeContext,
  ) {
    this.nodes = nodes;
    this.controlPlanes = nodes.filter(({ role }) => role === "controlplane");
    this.credentials = credentials;
    this.limits = limits;
    this.context = context;
  }

  /** Nobody else upgrades the cluster until it is released. */
  async hold(): Promise<void> {
    const quiet = { ...this.context, report: () => undefined };
    const calls = <T>(call: (objects: KubernetesObjects) => Promise<T>) => this.kubernetes(call, quiet, briefSeconds);
    this.lease = await takeUpgradeLease(calls, this.context);
  }

  async release(): Promise<void> {
    await this.lease?.end();
    this.lease = undefined;
  }

  /** Throws if another run has taken over, or if this one was interrupted: then nothing more is started. */
  checkGoAhead(): void {
    this.context.interrupted?.throwIfAborted();
    this.lease?.check();
  }

  /** Resolves when every member of etcd is healthy. */
  async etcdIsHealthy(context: NodeContext): Promise<void> {
    await new EtcdMembers(this.controlPlanes, this.credentials, context).waitUntilHealthy(
      this.until(this.limits.quorumSeconds, context),
    );
  }

  /** Resolves when etcd and the Kubernetes API tolerate that this control plane is away. */
  async tolerates(node: UpgradeNode, context: NodeContext): Promise<void> {
    const until = this.until(this.limits.quorumSeconds, context);
    const change = {
      node: node.name,
      role: node.role,
      effect: "off",
      of: "Talos",
      was: "",
      is: node.wanted.version,
    } as const;
    await new ChangeProof(this.controlPlanes, this.credentials, context).refuseLossOfQuorum([change], until);
    for (const other of this.others(node.name)) {
      const open = () => context.access.configured(other.talosAddress, this.credentials);
      context.report(`waits until ${other.name} serves`);
      await componentsServe({ open, until }, context).catch((error: unknown) => {
        throw error instanceof SluiceError
          ? error.with({ seen: `${other.name} does not serve: ${error.seen}` })
          : error;
      });
    }
  }

  /** Another control plane becomes etcd's leader. Without that etcd would elect one a moment after it is gone, so a failure does not matter. */
  async moveLeadership(node: UpgradeNode, context: NodeContext): Promise<void> {
    if (this.controlPlanes.length < 2) return;
    context.report("gives up etcd's leadership");
    const client = context.access.configured(node.talosAddress, this.credentials);
    await using(client, (open) => open.etcdForfeitLeadership({ deadlineSeconds: shortCallSeconds })).catch(
      () => undefined,
    );
  }

  /** A node with nobody who could take over its pods is not drained: they would be evicted, and wait for it. */
  get drains(): boolean {
    return this.limits.drain && this.nodes.length > 1;
  }

  /** Keeps new pods off the node, and evicts those that it has. */
  async drain(node: UpgradeNode, context: NodeContext): Promise<void> {
    const cordon = await this.kubernetes((objects) => cordonForUpgrade(objects, node.name), context);
    if (cordon === "missing" || !this.drains) return;
    const { clock, report, interrupted } = context;
    const until = this.until(this.limits.drainSeconds, context);
    const kubeconfig = await administratorAccess(this.askedFor(node.name), this.credentials, context, until);
    await drain({ kubeconfig, node: node.name, until, report, interrupted }, clock);
  }

  /** Resolves when the kubelet of this boot has reported the node as Ready. */
  async nodeIsReady(node: UpgradeNode, bootId: string, context: NodeContext): Promise<void> {
    const until = this.until(this.limits.nodeSeconds, context);
    const look = async () => {
      const found = await this.kubernetes(
        (objects) => objects.get<KubernetesNode>(`/api/v1/nodes/${node.name}`),
        context,
      );
      const why = found === undefined ? undefined : notReadyBecause(found, bootId);
      if (why === undefined) return { found: true };
      context.report(why);
      return { late: new SluiceError({ code: "SLU-T406", seen: why }) };
    };
    await poll(look, { ...context, until: () => until });
  }

  async endCordon(node: UpgradeNode, context: NodeContext): Promise<void> {
    await this.kubernetes((objects) => endOwnCordon(objects, node.name), context);
  }

  /** The same if that is possible at once. Returns whether it was. */
  async tryEndCordon(node: UpgradeNode): Promise<boolean> {
    const { interrupted: _, ...context } = { ...this.context, report: () => undefined };
    const ended = this.kubernetes((objects) => endOwnCordon(objects, node.name), context, briefSeconds);
    return await ended.then(
      () => true,
      () => false,
    );
  }

  /** The names of the nodes that an earlier run has cordoned; none if Kubernetes does not answer soon. */
  async ownCordons(): Promise<ReadonlySet<string>> {
    const all = await this.list<KubernetesNode>("/api/v1/nodes", this.context, briefSeconds).catch(() => []);
    return new Set(all.filter(isOwnCordon).map(({ metadata }) => metadata.name));
  }

  /** Refuses budgets that make it impossible to drain one of these nodes. */
  async refuseImpossibleBudgets(nodes: readonly UpgradeNode[]): Promise<void> {
    if (!this.drains) return;
    this.context.report("examines PodDisruptionBudgets");
    const [budgets, pods] = await Promise.all([
      this.list<DisruptionBudget>("/apis/policy/v1/poddisruptionbudgets"),
      this.list<Pod>("/api/v1/pods"),
    ]);
    const found = impossibleBudgets(budgets, pods, new Set(nodes.map(({ name }) => name)));
    if (found.length > 0) throw new SluiceError({ code: "SLU-L106", seen: `${found.join("\n")}\nNothing was changed` });
  }

  /** What is wrong with volumes before anything is changed; that is not waited for, unless another node that goes down makes it worse. */
  async rememberVolumes(): Promise<void> {
    const faults = storageFaults({ ...(await this.storage()), longhorn: [], ceph: [] });
    this.knownFaults = new Set(faults.keys());
  }

  /** Resolves when all volumes are as they should be, but those that were not so before. */
  async volumesAreSettled(context: NodeContext): Promise<void> {
    if (!this.limits.volumes) return;
    const until = this.until(this.limits.storageSeconds, context);
    const look = async () => {
      const faults = storageFaults(await this.storage(context));
      const [why] = [...faults].filter(([about]) => !this.knownFaults.has(about)).map(([, fault]) => fault);
      if (why === undefined) return { found: true };
      context.report(`waits for volumes: ${why}`);
      return { late: new SluiceError({ code: "SLU-T407", seen: why }) };
    };
    await poll(look, { ...context, until: () => until });
  }

  private async storage(context = this.context): Promise<StorageObjects> {
    const [attachments, longhorn, ceph] = await Promise.all([
      this.list<StorageObjects["attachments"][number]>(storagePaths.attachments, context),
      this.list<StorageObjects["longhorn"][number]>(storagePaths.longhorn, context),
      this.list<StorageObjects["ceph"][number]>(storagePaths.ceph, context),
    ]);
    return { attachments, longhorn, ceph };
  }

  /** Empty if the cluster has no such kind. */
  private async list<T extends KubernetesObject>(
    path: string,
    context = this.context,
    seconds = kubernetesSeconds,
  ): Promise<readonly T[]> {
    const signal = new AbortController().signal;
    return await this.kubernetes(
      async (_, kubeconfig) => {
        const client = new KubernetesClient(kubeconfig, context.clock);
        try {
          return (await client.json<{ readonly items: readonly T[] }>(path, { signal, deadlineMs: listDeadlineMs }))
            .items;
        } catch (error) {
          if ((error as { readonly status?: unknown }).status === 404) return [];
          throw error;
        }
      },
      context,
      seconds,
    );
  }

  private async kubernetes<T>(
    call: (objects: KubernetesObjects, kubeconfig: string) => Promise<T>,
    context: NodeContext,
    seconds = kubernetesSeconds,
  ): Promise<T> {
    const { controlPlanes: peers, credentials } = this;
    return await asAdministrator(
      call,
      { peers, credentials, late: "SLU-T408", until: this.until(seconds, context) },
      context,
    );
  }

  /** The control planes, this one last: it is about to go down. */
  private askedFor(node: string): readonly UpgradeNode[] {
    return [...this.others(node), ...this.controlPlanes.filter(({ name }) => name === node)];
  }

  private others(node: string): readonly UpgradeNode[] {
    return this.controlPlanes.filter(({ name }) => name !== node);
  }

  private until(seconds: number, { clock }: NodeContext): number {
    return clock.now() + seconds * 1000;
  }
}

/** A Node keeps its conditions while the machine reboots, so only those of the current boot count. */
export function notReadyBecause({ status }: KubernetesNode, bootId: string): string | undefined {
  if (status?.nodeInfo?.bootID !== bootId) return "waits until its kubelet has registered again";
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  return `waits until it is Ready in Kubernetes${ready?.message === undefined ? "" : `: ${ready.message}`}`;
}
