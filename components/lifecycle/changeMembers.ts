// What the engine asks of Members. Loaded from the checkout, so that the current code runs and not what a state keeps.
import { isDeepStrictEqual } from "node:util";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { memberIsAt } from "../talos/etcdMember.ts";
import { isUnknown } from "../talos/isUnknown.ts";
import { asFailure, endMessage, NodeFailure } from "../talos/nodeFailure.ts";
import { inEngine, type Surroundings } from "../talos/surroundings.ts";
import { Departure, type Member } from "./departure.ts";
import { EtcdMembers } from "./etcdMembers.ts";
import { lossOfQuorum, quorumOf } from "./quorum.ts";

/** As the resource hands them in. */
export interface MembersInputs {
  /** By their names, which are known also while their machines are not made. */
  readonly nodes: Readonly<Record<string, Member>>;
  readonly credentials: TalosCredentials;
  /** Seconds for the pods of a node to leave it. */
  readonly drainDeadline: number;
  /** Seconds for each other step. */
  readonly deadline: number;
  /** The resource's own URN, for its row. */
  readonly row: string;
}

export const operations = {
  /** Nodes come by their configs; here it is only remembered who there is. */
  async create(inputs: MembersInputs) {
    return { id: "members", outs: inputs };
  },

  /** One node after the other: what one of them loses, the next is judged by. */
  async update(olds: MembersInputs, news: MembersInputs, world: Surroundings) {
    const leaving = departing(olds, news);
    const staying = Object.values(news.nodes);
    await refuseLoss(leaving, staying, news.credentials, world);
    for (const [place, member] of leaving.entries()) {
      const later = leaving.slice(place + 1);
      const began = world.clock.now();
      const { credentials, drainDeadline, deadline } = news;
      try {
        const departure = new Departure(member, { staying, later, credentials, drainDeadline, deadline }, world);
        await world.note(await departure.run(), "info");
      } catch (error) {
        throw new Error(inWords(member.node, error, (world.clock.now() - began) / 1000));
      }
    }
    return { outs: news };
  },

  /** Offline. In a preview this is where a person reads what becomes of the nodes that are not in the list any more. */
  async diff(olds: MembersInputs, news: MembersInputs, world: Pick<Surroundings, "note">) {
    // While the engine asks what a machine that is replaced brings about, it says of the whole list that it is not known.
    if (isUnknown(news.nodes)) return { changes: true };
    for (const { node, role } of departing(olds, news)) {
      const etcd = role === "controlplane" ? `${leavesEtcd(news)}, ` : "";
      const steps = `cordoned, drained, ${etcd}reset (STATE and EPHEMERAL), deleted in Kubernetes, and its machine goes last`;
      await world.note(`${node} LEAVES the cluster: ${steps}`, "warning");
    }
    const matters = ({ nodes, credentials }: MembersInputs) => ({ nodes, credentials });
    return { changes: !isDeepStrictEqual(matters(olds), matters(news)) };
  },
};

export const create = (inputs: MembersInputs) => operations.create(inputs);
export const update = (_id: string, olds: MembersInputs, news: MembersInputs) =>
  inEngine(
    news.row,
    (world) => operations.update(olds, news, world),
    () => "the nodes are those of the list",
  );
export const diff = (_id: string, olds: MembersInputs, news: MembersInputs) =>
  inEngine(news.row, (world) => operations.diff(olds, news, world));

/** Workers first: where a control plane cannot go, they have gone. */
function departing(olds: MembersInputs, news: MembersInputs): readonly Member[] {
  return Object.values(olds.nodes)
    .filter(({ node }) => news.nodes[node] === undefined)
    .sort((a, b) => b.role.localeCompare(a.role) || a.node.localeCompare(b.node));
}

function leavesEtcd({ nodes }: MembersInputs): string {
  const left = Object.values(nodes).filter(({ role }) => role === "controlplane").length;
  return `taken out of etcd, whose ${left} ${left === 1 ? "member then bears" : "members then bear"} the loss of ${left - quorumOf(left)}`;
}

/** Before anything is touched: for all that leave, as if the ones before had left already. */
async function refuseLoss(
  leaving: readonly Member[],
  staying: readonly Member[],
  credentials: TalosCredentials,
  world: Surroundings,
): Promise<void> {
  const controlPlanes = leaving.filter(({ role }) => role === "controlplane");
  const [first] = controlPlanes;
  if (first === undefined) return;
  const rest = staying.filter(({ role }) => role === "controlplane");
  world.report("looks whether etcd bears it");
  const etcd = new EtcdMembers([...rest, ...controlPlanes], credentials, world);
  try {
    const { members } = await etcd.look();
    let voters = await etcd.voters();
    for (const { node, address } of controlPlanes) {
      const own = members.find((member) => memberIsAt(member, address));
      const isRenamed = rest.some((peer) => peer.address === address);
      if (own === undefined || own.learner || isRenamed) continue;
      const loss = lossOfQuorum(voters, own.id);
      if (loss !== undefined) throw new NodeFailure("SLU-L101", `without ${node}: ${loss}. Nothing was changed`);
      voters = voters.filter(({ id }) => id !== own.id);
    }
  } catch (error) {
    throw new Error(inWords(controlPlanes.map(({ node }) => node).join(", "), error));
  }
}

function inWords(node: string, error: unknown, seconds = 0): string {
  const failure = asFailure(error, "SLU-L103");
  return endMessage(failure, { node, what: "the node to leave the cluster", state: "leaving", attempts: 1, seconds });
}
