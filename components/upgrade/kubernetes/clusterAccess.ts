// The cluster whose Kubernetes is upgraded, as the work on each of its nodes needs it.
import { SluiceError } from "../../errors/sluiceError.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import type { KubernetesObjects } from "../../kubernetes/kubernetesObjects.ts";
import type { KubernetesObject } from "../../kubernetes/objects.ts";
import type { NodeClient, NodeContext } from "../../talos/access/nodeAccess.ts";
import { asFailure } from "../../talos/access/nodeFailure.ts";
import type { TalosCredentials } from "../../talos/client/talosClient.ts";
import { accessThrough, asAdministrator } from "../../talos/etcd/kubernetesAccess.ts";
import { poll } from "../../waiting/poll.ts";
import { takeUpgradeLease, type UpgradeLease } from "../upgradeLease.ts";
import type { UpgradeNode } from "./nodeKubernetes.ts";

export interface UpgradeLimits {
  /** For the images to be on all nodes. */
  readonly pullSeconds: number;
  /** For a node to run the new version and be healthy. */
  readonly nodeSeconds: number;
  /** For which a node must stay healthy before the next one is changed. */
  readonly stableSeconds: number;
}

/** Seconds for a call that only needs to be made at some time. */
const briefSeconds = 10;
/** Milliseconds for a list, and for the metrics of an API server. */
const longDeadlineMs = 15_000;

export class ClusterAccess {
  readonly nodes: readonly UpgradeNode[];
  readonly controlPlanes: readonly UpgradeNode[];
  readonly credentials: TalosCredentials;
  readonly limits: UpgradeLimits;
  private readonly context: NodeContext;
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

  /** Nobody else upgrades the cluster while the work is done. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const quiet = { ...this.context, report: () => undefined };
    this.lease = await takeUpgradeLease((call) => this.kubernetes(call, quiet, briefSeconds), this.context);
    try {
      return await work();
    } finally {
      await this.lease.end();
      this.lease = undefined;
    }
  }

  /** Throws if another run has taken over, or if this one was interrupted: then nothing more is changed. */
  checkGoAhead(): void {
    this.context.interrupted?.throwIfAborted();
    this.lease?.check();
  }

  open({ talosAddress }: UpgradeNode): NodeClient {
    return this.context.access.configured(talosAddress, this.credentials);
  }

  /** The deadline, by the clock, for a node. */
  until(): number {
    return this.context.clock.now() + this.limits.nodeSeconds * 1000;
  }

  /** Resolves with a kubeconfig for the API server of this control plane, once that one is ready. */
  async serving(controlPlane: UpgradeNode, context: NodeContext, until: number): Promise<string> {
    context.report(`waits until the API server of ${controlPlane.name} is ready`);
    const look = async () => {
      try {
        return { found: await accessThrough(controlPlane, this.credentials, context) };
      } catch (error) {
        const { seen } = asFailure(error, "SLU-K305");
        const why = `the API server of ${controlPlane.name} is not ready: ${seen}`;
        return { late: new SluiceError({ code: "SLU-K305", seen: why }) };
      }
    };
    return await poll(look, { ...context, until: () => until });
  }

  /** A text of the API server of this control plane. */
  async text(kubeconfig: string, path: string): Promise<string> {
    return await this.client(kubeconfig).text(path, {
      signal: new AbortController().signal,
      deadlineMs: longDeadlineMs,
    });
  }

  /** Empty if the cluster has no such kind. */
  async list<T extends KubernetesObject>(path: string, context = this.context): Promise<readonly T[]> {
    return await this.kubernetes(async (_, kubeconfig) => {
      try {
        return JSON.parse(await this.text(kubeconfig, path)).items;
      } catch (error) {
        if ((error as { readonly status?: unknown }).status === 404) return [];
        throw error;
      }
    }, context);
  }

  async kubernetes<T>(
    call: (objects: KubernetesObjects, kubeconfig: string) => Promise<T>,
    context = this.context,
    seconds = this.limits.nodeSeconds,
  ): Promise<T> {
    const { controlPlanes: peers, credentials } = this;
    const until = context.clock.now() + seconds * 1000;
    return await asAdministrator(call, { peers, credentials, late: "SLU-K305", until }, context);
  }

  private client(kubeconfig: string): KubernetesClient {
    return new KubernetesClient(kubeconfig, this.context.clock);
  }
}
