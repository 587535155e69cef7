// etcd as all its control planes show it: who is a member, and who is known to be well.
import { resources } from "../talos/client/resources.ts";
import type { EtcdMember, TalosCredentials } from "../talos/client/talosClient.ts";
import { memberIsAt } from "../talos/etcdMember.ts";
import { type NodeClient, using, type World } from "../talos/nodeAccess.ts";
import { asFailure, NodeFailure } from "../talos/nodeFailure.ts";
import { isEtcdHealthy } from "../talos/nodeResources.ts";
import { repeat } from "../talos/repeat.ts";
import type { Peer } from "./kubernetesAccess.ts";
import { lossOfQuorum, type Voter } from "./quorum.ts";

/** Seconds for a call that is answered at once or not at all. */
const shortCall = 5;
/** Seconds for one that etcd has to agree on. */
const changeDeadline = 60;

/** Where a member of etcd is, or is to be. */
export type Place = Pick<Peer, "node" | "address">;

/** etcd as one that is well shows it. */
export interface EtcdView {
  readonly members: readonly EtcdMember[];
  /** Who says the same. */
  readonly well: readonly Peer[];
  /** Whose machine has no config, and so for certain no etcd. */
  readonly blank: readonly Peer[];
}

interface PeerView {
  readonly members?: readonly EtcdMember[];
  readonly isBlank?: boolean;
  readonly why: string;
}

/** By its name, which a machine in its place has again, or by where it is. */
function isOf(member: EtcdMember, { node, address }: Place): boolean {
  return member.name === node || memberIsAt(member, address);
}

export class EtcdMembers {
  /** All control planes that may be members. */
  private readonly peers: readonly Peer[];
  private readonly credentials: TalosCredentials;
  private readonly world: World;

  constructor(peers: readonly Peer[], credentials: TalosCredentials, world: World) {
    this.peers = peers;
    this.credentials = credentials;
    this.world = world;
  }

  /** The members, by one that is well. */
  async look(): Promise<EtcdView> {
    const views = await Promise.all(this.peers.map((peer) => this.ask(peer)));
    const well = this.peers.filter((_, place) => views[place]?.members !== undefined);
    const blank = this.peers.filter((_, place) => views[place]?.isBlank);
    const members = views.find((view) => view.members !== undefined)?.members;
    if (members !== undefined) return { members, well, blank };
    const why = this.peers.map(({ node }, place) => `${node}: ${views[place]?.why}`).join("; ");
    throw new NodeFailure("SLU-T321", `no member of etcd answers and is healthy: ${why}`);
  }

  /** The members that vote. */
  async voters(): Promise<readonly Voter[]> {
    const { members, well } = await this.look();
    return members
      .filter(({ learner }) => !learner)
      .map(({ id, name, peerUrls }) => {
        const healthy = well.some(({ address }) => memberIsAt({ peerUrls }, address));
        return { id, name: name || `member ${id}`, healthy };
      });
  }

  /** The member of a node, also one of a machine that was it before. */
  async of(place: Place): Promise<EtcdMember | undefined> {
    return (await this.look()).members.find((member) => isOf(member, place));
  }

  /** A member whose machine cannot leave by itself is taken out by the others; refused where they would not be enough then. */
  async expel({ id, name, learner }: EtcdMember): Promise<void> {
    await this.prove(id, learner);
    const { well } = await this.look();
    const [first] = well;
    if (first === undefined) throw new NodeFailure("SLU-T321", "no member of etcd is healthy");
    this.world.report(`takes ${name || id} out of etcd`);
    await using(this.open(first), (client) => client.etcdRemoveMember(id, { deadline: changeDeadline }));
  }

  /** A member leaves by itself. */
  async leave(peer: Peer, { id, learner }: EtcdMember): Promise<void> {
    await this.prove(id, learner);
    this.world.report(`${peer.node} leaves etcd`);
    await using(this.open(peer), async (client) => {
      // Alone it could not, and would have been refused before.
      if (!learner) await client.etcdForfeitLeadership({ deadline: changeDeadline });
      await client.etcdLeave({ deadline: changeDeadline });
    });
  }

  /** Resolves when the node has no member any more, as the others see it. There is no watch for members. */
  async gone(place: Place, until: number): Promise<void> {
    await this.until(until, async () => {
      const member = await this.of(place);
      return member === undefined ? undefined : `etcd still has the member ${member.name || member.id}`;
    });
  }

  /**
   * Resolves when every member votes and is well, and the place has none. One that it has is taken out, and so is each whose machine has no config: of
   * several that were replaced each would wait for the others' to be well.
   */
  async whole(place: Place, until: number): Promise<void> {
    await this.until(until, async () => {
      const own = await this.of(place);
      if (own !== undefined) await this.expel(own);
      const { members, blank } = await this.look();
      for (const stale of members.filter((member) => blank.some((peer) => isOf(member, peer)))) await this.expel(stale);
      const learner = (await this.look()).members.find((one) => one.learner);
      if (learner !== undefined) return `waits until ${learner.name || learner.id} votes in etcd`;
      const sick = (await this.voters()).filter(({ healthy }) => !healthy).map(({ name }) => name);
      return sick.length === 0 ? undefined : `waits until all of etcd is well; not well: ${sick.join(", ")}`;
    });
  }

  /** Resolves when the node votes. */
  async votes(place: Place, until: number): Promise<void> {
    await this.until(until, async () => {
      const member = await this.of(place);
      if (member === undefined) return `${place.node} is no member of etcd yet`;
      return member.learner ? `${place.node} is a learner in etcd still` : undefined;
    });
  }

  private async prove(id: string, learner: boolean): Promise<void> {
    // One that does not vote is not missed.
    const loss = learner ? undefined : lossOfQuorum(await this.voters(), id);
    if (loss !== undefined) throw new NodeFailure("SLU-L101", loss);
  }

  private async until(until: number, look: () => Promise<string | undefined>): Promise<void> {
    const attempt = async () => {
      const lack = await look().catch((error) => {
        if (error instanceof NodeFailure && error.code === "SLU-L101") throw error;
        return asFailure(error, "SLU-T321").seen;
      });
      if (lack === undefined) return { found: true };
      this.world.report(lack);
      return { late: new NodeFailure("SLU-T321", lack) };
    };
    await repeat(attempt, { ...this.world, until: () => until });
  }

  private async ask(peer: Peer): Promise<PeerView> {
    const state = await this.world.access.probe(peer.endpoint, this.credentials);
    if (state.kind !== "ours") {
      const why = "why" in state ? state.why : `it is in ${state.kind}`;
      return { why, isBlank: state.kind === "maintenance" };
    }
    try {
      return await using(this.open(peer), async (client) => {
        const options = { deadline: shortCall };
        const service = await client.get(resources.services, "etcd", options);
        if (!isEtcdHealthy(service?.spec)) return { why: "its etcd is not healthy" };
        return { members: await client.etcdMembers(options), why: "" };
      });
    } catch (error) {
      return { why: asFailure(error, "SLU-T321").seen };
    }
  }

  private open({ endpoint }: Peer): NodeClient {
    return this.world.access.configured(endpoint, this.credentials);
  }
}
