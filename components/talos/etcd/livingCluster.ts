// Adds a machine to a cluster that already runs: a new node, or another machine in place of a lost one.

import { SluiceError } from "../../errors/sluiceError.ts";
import { KubernetesObjects } from "../../kubernetes/kubernetesObjects.ts";
import type { KubernetesNode } from "../../kubernetes/objects.ts";
import type { Peer } from "../../model/peer.ts";
import type { Role } from "../../model/role.ts";
import { readTraits } from "../access/machineTraits.ts";
import type { NodeClient, NodeContext } from "../access/nodeAccess.ts";
import type { TalosCredentials } from "../client/talosClient.ts";
import { EtcdMembers } from "./etcdMembers.ts";
import { lookAtEtcd } from "./etcdPresence.ts";
import { accessThrough } from "./kubernetesAccess.ts";

export interface Newcomer {
  readonly node: string;
  readonly role: Role;
  /** Its address in the node network. */
  readonly address: string;
  /** The control planes other than the node itself. */
  readonly peers: readonly Peer[];
  readonly credentials: TalosCredentials;
}

/** The running cluster that a machine without a config joins. */
export class LivingCluster {
  private readonly newcomer: Newcomer;
  private readonly context: NodeContext;
  private readonly etcd: EtcdMembers;

  private constructor(newcomer: Newcomer, context: NodeContext) {
    this.newcomer = newcomer;
    this.context = context;
    this.etcd = new EtcdMembers(newcomer.peers, newcomer.credentials, context);
  }

  /**
   * Undefined if no other control plane has an etcd: then the cluster does not run yet. For a control plane this must be certain, because it would otherwise
   * join without waiting for its turn, and next to its predecessor's member; if it is not known, that is a transient error.
   */
  static async find(newcomer: Newcomer, context: NodeContext): Promise<LivingCluster | undefined> {
    const { node, role, peers, credentials } = newcomer;
    const blank = blankIn(credentials);
    if (role === "controlplane") blank.add(node);
    const looks = await Promise.all(peers.map((peer) => lookAtEtcd(peer, credentials, context)));
    if (looks.some(({ kind }) => kind === "there")) return new LivingCluster(newcomer, context);
    const unknown = looks.flatMap((look, place) =>
      look.kind === "unknown" && !blank.has(peers[place]?.name ?? "") ? [look.why] : [],
    );
    if (role === "worker" || unknown.length === 0) return undefined;
    const seen = `it is unknown whether the cluster already runs: ${unknown.join("; ")}`;
    throw new SluiceError({ code: "SLU-T321", seen, retryable: true });
  }

  /**
   * Removes what is left of the node's previous machine: its etcd member, if the others keep their quorum without it, and its Node object. A control plane
   * joins only when every other member is healthy, because until it has caught up it counts as a missing member.
   */
  async removePredecessor(machine: NodeClient, until: number): Promise<void> {
    const { node, role, address } = this.newcomer;
    if (role === "controlplane") {
      // A machine without a config runs no etcd, so a member with its name or address belongs to the previous machine.
      await this.etcd.expelStaleAndWaitUntilHealthy({ name: node, address }, until);
    }
    await this.removeNodeOf(machine);
  }

  /** Resolves when the new member votes, so that the next one may join. */
  async waitUntilJoined(until: number): Promise<void> {
    const { node, role, address } = this.newcomer;
    if (role === "controlplane") await this.etcd.waitUntilVoting({ name: node, address }, until);
  }

  /**
   * A Node object of the previous machine would keep that machine's provider id and pods. If the object cannot be read now, the gate NodesJoined reports it.
   */
  private async removeNodeOf(machine: NodeClient): Promise<void> {
    const { node, peers, credentials } = this.newcomer;
    const { uuid } = await readTraits(machine);
    const kubeconfig = await firstOf(peers.map((peer) => accessThrough(peer, credentials, this.context)));
    if (kubeconfig === undefined || uuid === "") return;
    const kubernetes = new KubernetesObjects(kubeconfig, this.context.clock);
    const path = `/api/v1/nodes/${node}`;
    const was = (await kubernetes.get<KubernetesNode>(path))?.status?.nodeInfo?.systemUUID ?? "";
    if (was === "" || was.toLowerCase() === uuid.toLowerCase()) return;
    this.context.report(`deletes the Node object of the previous machine of ${node}`);
    await kubernetes.remove(path);
  }
}

async function firstOf<T>(made: readonly Promise<T>[]): Promise<T | undefined> {
  return await Promise.any(made).catch(() => undefined);
}

const blanks = new Map<string, Set<string>>();

/**
 * Control planes of a cluster that were in maintenance during this run. While they boot they do not answer for a while, and they certainly have no earlier
 * etcd: all node configurations of a run are in one process, and the bootstrap comes after the last of them.
 */
function blankIn({ ca }: TalosCredentials): Set<string> {
  const found = blanks.get(ca) ?? new Set();
  blanks.set(ca, found);
  return found;
}
