// etcd as all its control planes report it: its members, and which of them are known to be healthy.

import { SluiceError } from "../../errors/sluiceError.ts";
import type { Peer } from "../../model/peer.ts";
import { poll } from "../../waiting/poll.ts";
import { type NodeClient, type NodeContext, using } from "../access/nodeAccess.ts";
import { asFailure } from "../access/nodeFailure.ts";
import { isEtcdHealthy } from "../access/nodeResources.ts";
import { resources } from "../client/resources.ts";
import type { EtcdMember, TalosCredentials } from "../client/talosClient.ts";
import { memberIsAt } from "./etcdMember.ts";
import { lossOfQuorum, type Voter } from "./quorum.ts";

/** Seconds for a call that is answered at once or not at all. */
const shortCallSeconds = 5;
/** Seconds for a call that needs etcd's consensus. */
const changeDeadlineSeconds = 60;

/** The node of an existing or future member. */
export type Place = Pick<Peer, "name" | "address">;

/** etcd as a healthy member reports it. */
export interface EtcdView {
  readonly members: readonly EtcdMember[];
  /** The control planes that are healthy members. */
  readonly well: readonly Peer[];
  /** The control planes whose machines have no config, and so certainly no etcd. */
  readonly blank: readonly Peer[];
}

interface PeerView {
  readonly members?: readonly EtcdMember[];
  readonly isBlank?: boolean;
  readonly why: string;
}

/** By its name, which a replacement machine has too, or by its address. */
function isOf(member: EtcdMember, { name, address }: Place): boolean {
  return member.name === name || memberIsAt(member, address);
}

export class EtcdMembers {
  /** All control planes that may be members. */
  private readonly peers: readonly Peer[];
  private readonly credentials: TalosCredentials;
  private readonly context: NodeContext;

  constructor(peers: readonly Peer[], credentials: TalosCredentials, context: NodeContext) {
    this.peers = peers;
    this.credentials = credentials;
    this.context = context;
  }

  /** The members, as a healthy one lists them. */
  async observe(): Promise<EtcdView> {
    const views = await Promise.all(this.peers.map((peer) => this.ask(peer)));
    const well = this.peers.filter((_, place) => views[place]?.members !== undefined);
    const blank = this.peers.filter((_, place) => views[place]?.isBlank);
    const members = views.find((view) => view.members !== undefined)?.members;
    if (members !== undefined) return { members, well, blank };
    const why = this.peers.map(({ name }, place) => `${name}: ${views[place]?.why}`).join("; ");
    throw new SluiceError({ code: "SLU-T321", seen: `no member of etcd answers and is healthy: ${why}` });
  }

  /** The voters. */
  async voters(): Promise<readonly Voter[]> {
    const { members, well } = await this.observe();
    return members
      .filter(({ learner }) => !learner)
      .map(({ id, name, peerUrls }) => {
        const healthy = well.some(({ address }) => memberIsAt({ peerUrls }, address));
        return { id, name: name || `member ${id}`, healthy };
      });
  }

  /** The member of a node, or of a machine that was this node before. */
  async memberOf(place: Place): Promise<EtcdMember | undefined> {
    return (await this.observe()).members.find((member) => isOf(member, place));
  }

  /** The other members remove one whose machine cannot leave by itself; refused if etcd would then lose its quorum. */
  async expel({ id, name, learner }: EtcdMember): Promise<void> {
    await this.refuseLossOfQuorum(id, learner);
    const { well } = await this.observe();
    const [first] = well;
    if (first === undefined) throw new SluiceError({ code: "SLU-T321", seen: "no member of etcd is healthy" });
    this.context.report(`removes ${name || id} from etcd`);
    await using(this.open(first), (client) => client.etcdRemoveMember(id, { deadlineSeconds: changeDeadlineSeconds }));
  }

  /** A member leaves by itself. */
  async leave(peer: Peer, { id, learner }: EtcdMember): Promise<void> {
    await this.refuseLossOfQuorum(id, learner);
    this.context.report(`${peer.name} leaves etcd`);
    await using(this.open(peer), async (client) => {
      // A single member could not give up its leadership, but its removal was refused before.
      if (!learner) await client.etcdForfeitLeadership({ deadlineSeconds: changeDeadlineSeconds });
      await client.etcdLeave({ deadlineSeconds: changeDeadlineSeconds });
    });
  }

  /** Resolves when the others no longer list the node as a member. There is no watch for members. */
  async waitUntilGone(place: Place, until: number): Promise<void> {
    await this.waitUntil(until, async () => {
      const member = await this.memberOf(place);
      return member === undefined ? undefined : `etcd still has the member ${member.name || member.id}`;
    });
  }

  /**
   * Resolves when every member votes and is healthy, and the node has no member. If it has one, that is removed, and so is each member whose machine has no
   * config: if several machines were replaced, each would otherwise wait for the others.
   */
  async expelStaleAndWaitUntilHealthy(place: Place, until: number): Promise<void> {
    await this.waitUntil(until, async () => {
      const own = await this.memberOf(place);
      if (own !== undefined) await this.expel(own);
      const { members, blank } = await this.observe();
      for (const stale of members.filter((member) => blank.some((peer) => isOf(member, peer)))) await this.expel(stale);
      return await this.unhealthy();
    });
  }

  /** Resolves when every member votes and is healthy. */
  async waitUntilHealthy(until: number): Promise<void> {
    await this.waitUntil(until, () => this.unhealthy());
  }

  /** Resolves when the node is a voter. */
  async waitUntilVoting(place: Place, until: number): Promise<void> {
    await this.waitUntil(until, async () => {
      const member = await this.memberOf(place);
      if (member === undefined) return `${place.name} is not a member of etcd yet`;
      return member.learner ? `${place.name} is still a learner in etcd` : undefined;
    });
  }

  /** What is missing until every member votes and is healthy. */
  private async unhealthy(): Promise<string | undefined> {
    const learner = (await this.observe()).members.find((one) => one.learner);
    if (learner !== undefined) return `waits until ${learner.name || learner.id} votes in etcd`;
    const sick = (await this.voters()).filter(({ healthy }) => !healthy).map(({ name }) => name);
    return sick.length === 0 ? undefined : `waits until all members of etcd are healthy; unhealthy: ${sick.join(", ")}`;
  }

  private async refuseLossOfQuorum(id: string, learner: boolean): Promise<void> {
    // The removal of a learner costs no quorum.
    const loss = learner ? undefined : lossOfQuorum(await this.voters(), id);
    if (loss !== undefined) throw new SluiceError({ code: "SLU-L101", seen: loss });
  }

  private async waitUntil(until: number, look: () => Promise<string | undefined>): Promise<void> {
    const attempt = async () => {
      const lack = await look().catch((error) => {
        if (error instanceof SluiceError && error.code === "SLU-L101") throw error;
        return asFailure(error, "SLU-T321").seen;
      });
      if (lack === undefined) return { found: true };
      this.context.report(lack);
      return { late: new SluiceError({ code: "SLU-T321", seen: lack }) };
    };
    await poll(attempt, { ...this.context, until: () => until });
  }

  private async ask(peer: Peer): Promise<PeerView> {
    const state = await this.context.access.probe(peer.talosAddress, this.credentials);
    if (state.kind !== "ours") {
      const why = "why" in state ? state.why : `it is in ${state.kind}`;
      return { why, isBlank: state.kind === "maintenance" };
    }
    try {
      return await using(this.open(peer), async (client) => {
        const options = { deadlineSeconds: shortCallSeconds };
        const service = await client.get(resources.services, "etcd", options);
        if (!isEtcdHealthy(service?.spec)) return { why: "its etcd is not healthy" };
        return { members: await client.etcdMembers(options), why: "" };
      });
    } catch (error) {
      return { why: asFailure(error, "SLU-T321").seen };
    }
  }

  private open({ talosAddress }: Peer): NodeClient {
    return this.context.access.configured(talosAddress, this.credentials);
  }
}
