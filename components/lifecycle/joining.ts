// A machine that comes into a cluster which lives already: a node more, or another machine in the place of one that is gone.
import type { KubernetesNode } from "../kubernetes/objects.ts";
import type { Role } from "../machines/node.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { lookAtEtcd } from "../talos/etcdVoices.ts";
import { readTraits } from "../talos/machineTraits.ts";
import type { NodeClient, World } from "../talos/nodeAccess.ts";
import { NodeFailure } from "../talos/nodeFailure.ts";
import { EtcdMembers } from "./etcdMembers.ts";
import { accessThrough, KubernetesObjects, type Peer } from "./kubernetesAccess.ts";

export interface Newcomer {
  readonly node: string;
  readonly role: Role;
  /** In the node network. */
  readonly address: string;
  /** The control planes, but for the node itself. */
  readonly peers: readonly Peer[];
  readonly credentials: TalosCredentials;
}

/** The cluster that a machine without a config finds. */
export class LivingCluster {
  private readonly newcomer: Newcomer;
  private readonly world: World;
  private readonly etcd: EtcdMembers;

  private constructor(newcomer: Newcomer, world: World) {
    this.newcomer = newcomer;
    this.world = world;
    this.etcd = new EtcdMembers(newcomer.peers, newcomer.credentials, world);
  }

  /**
   * Nothing where no other control plane has an etcd: then the cluster is still to begin. A control plane must know it for certain, as it would come
   * without its turn and beside its predecessor; that it is not known passes.
   */
  static async of(newcomer: Newcomer, world: World): Promise<LivingCluster | undefined> {
    const { node, role, peers, credentials } = newcomer;
    const blank = blankIn(credentials);
    if (role === "controlplane") blank.add(node);
    const looks = await Promise.all(peers.map((peer) => lookAtEtcd(peer, credentials, world)));
    if (looks.some(({ kind }) => kind === "there")) return new LivingCluster(newcomer, world);
    const unknown = looks.flatMap((look, place) =>
      look.kind === "unknown" && !blank.has(peers[place]?.node ?? "") ? [look.why] : [],
    );
    if (role === "worker" || unknown.length === 0) return undefined;
    const seen = `whether the cluster lives already is not known: ${unknown.join("; ")}`;
    throw new NodeFailure("SLU-T321", seen, { passing: true });
  }

  /**
   * Takes out what is left of the machine that had the place before: its member of etcd, where the others are enough without it, and its Node object. A
   * control plane comes only when every other member is well: until it has caught up, it is one more that could be missing.
   */
  async makeRoom(machine: NodeClient, until: number): Promise<void> {
    const { node, role, address } = this.newcomer;
    if (role === "controlplane") {
      // A machine without a config runs no etcd, so a member of it is none of its own.
      await this.etcd.whole({ node, address }, until);
    }
    await this.removeNodeOf(machine);
  }

  /** Resolves when the newcomer votes, so that the next one may come. */
  async joined(until: number): Promise<void> {
    const { node, role, address } = this.newcomer;
    if (role === "controlplane") await this.etcd.votes({ node, address }, until);
  }

  /** A Node object of another machine would keep that one's provider id and pods. Where nobody tells of it now, the gate NodesJoined finds it. */
  private async removeNodeOf(machine: NodeClient): Promise<void> {
    const { node, peers, credentials } = this.newcomer;
    const { uuid } = await readTraits(machine);
    const kubeconfig = await firstOf(peers.map((peer) => accessThrough(peer, credentials, this.world)));
    if (kubeconfig === undefined || uuid === "") return;
    const kubernetes = new KubernetesObjects(kubeconfig, this.world.clock);
    const path = `/api/v1/nodes/${node}`;
    const was = (await kubernetes.get<KubernetesNode>(path))?.status?.nodeInfo?.systemUUID ?? "";
    if (was === "" || was.toLowerCase() === uuid.toLowerCase()) return;
    this.world.report(`deletes the Node object of the machine that was ${node} before`);
    await kubernetes.remove(path);
  }
}

async function firstOf<T>(made: readonly Promise<T>[]): Promise<T | undefined> {
  return await Promise.any(made).catch(() => undefined);
}

const blanks = new Map<string, Set<string>>();

/**
 * Control planes of a cluster that were in maintenance in this run. On their way from there they do not answer for a while, and for certain have no etcd
 * of before: all node configurations of a run are in one process, and nothing is bootstrapped before the last of them.
 */
function blankIn({ ca }: TalosCredentials): Set<string> {
  const found = blanks.get(ca) ?? new Set();
  blanks.set(ca, found);
  return found;
}
