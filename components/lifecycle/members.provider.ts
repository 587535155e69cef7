// The operations of Members.

import { isDeepStrictEqual } from "node:util";
import { backupFirst, backupNote } from "../backup/backupFirst.ts";
import type { ResourceInputs } from "../engine/checkoutResource.ts";
import { isUnknown } from "../engine/isUnknown.ts";
import { allRenamed, renamed } from "../engine/renamed.ts";
import { engineCalls, type Note, type ResourceOperations } from "../engine/resourceProvider.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import { type NodeResourceContext, nodeContext } from "../talos/access/nodeAccess.ts";
import { asFailure, endFailure } from "../talos/access/nodeFailure.ts";
import type { TalosCredentials } from "../talos/client/talosClient.ts";
import { memberIsAt } from "../talos/etcd/etcdMember.ts";
import { EtcdMembers } from "../talos/etcd/etcdMembers.ts";
import { lossOfQuorum, quorumOf } from "../talos/etcd/quorum.ts";
import { Departure, type Member } from "./departure.ts";
import type { MembersArgs } from "./members.ts";

/** The nodes by name: names are known even before the machines exist. */
export type MembersInputs = ResourceInputs<
  Omit<MembersArgs, "machines"> & { readonly nodes: Readonly<Record<string, Member>> }
>;

export const operations = {
  id: () => "members",

  /** Nodes join through their configs; this only records which nodes there are. */
  create: async (inputs) => inputs,

  /** One node after the other: each is judged by what the removal of the one before has left. */
  async update(olds, news, context) {
    const leaving = departing(olds, news);
    const staying = Object.values(news.nodes);
    await refuseLoss(leaving, staying, news.credentials, context);
    await backUp([...leaving, ...staying], leaving, news, context);
    for (const [place, member] of leaving.entries()) {
      const later = leaving.slice(place + 1);
      const began = context.clock.now();
      const { credentials, drainDeadlineSeconds, deadlineSeconds } = news;
      try {
        const departure = new Departure(
          member,
          { staying, later, credentials, drainDeadlineSeconds, deadlineSeconds },
          context,
        );
        await context.note(await departure.run(), "info");
      } catch (error) {
        throw failureOf(member.name, error, (context.clock.now() - began) / 1000);
      }
    }
    return news;
  },

  difference(olds, news) {
    const matters = ({ nodes, credentials }: MembersInputs) => [nodes, credentials];
    return { kind: isDeepStrictEqual(matters(olds), matters(news)) ? "none" : "update" };
  },

  /** In a preview this shows the user what happens to nodes that are no longer listed. */
  notes(olds, news) {
    // While the engine determines what the replacement of a machine affects, it passes the whole list as unknown.
    if (isUnknown(news.nodes)) return [];
    const leaving = departing(olds, news);
    const warnings = leaving.map(({ name: node, role }): Note => {
      const etcd = role === "controlplane" ? `${leavesEtcd(news)}, ` : "";
      const steps = `cordoned, drained, ${etcd}reset (STATE and EPHEMERAL), deleted in Kubernetes, and its machine goes last`;
      return { text: `${node} LEAVES the cluster: ${steps}`, as: "warning" };
    });
    const backup = leaving.some(({ role }) => role === "controlplane") ? [backupNote(news.backup)] : [];
    return [...warnings, ...backup];
  },

  migrate: (state) => ({
    ...renamed(state, { deadline: "deadlineSeconds", drainDeadline: "drainDeadlineSeconds" }),
    nodes: allRenamed(state.nodes, { node: "name", endpoint: "talosAddress" }),
  }),

  outcome: () => "the nodes match the list",
} satisfies ResourceOperations<MembersInputs, MembersInputs, NodeResourceContext>;

export const { create, read, diff, update, remove } = engineCalls<MembersInputs, MembersInputs, NodeResourceContext>(
  operations,
  nodeContext,
);

/** Workers first: if a control plane cannot leave, they have left already. */
function departing(olds: MembersInputs, news: MembersInputs): readonly Member[] {
  return Object.values(olds.nodes)
    .filter(({ name }) => news.nodes[name] === undefined)
    .sort((a, b) => b.role.localeCompare(a.role) || a.name.localeCompare(b.name));
}

function leavesEtcd({ nodes }: MembersInputs): string {
  const left = Object.values(nodes).filter(({ role }) => role === "controlplane").length;
  return `removed from etcd, whose ${left} ${left === 1 ? "member then tolerates" : "members then tolerate"} the loss of ${left - quorumOf(left)}`;
}

/** Before anything is changed, and only where etcd is. */
async function backUp(
  nodes: readonly Member[],
  leaving: readonly Member[],
  { backup, credentials }: MembersInputs,
  context: NodeResourceContext,
): Promise<void> {
  const names = leaving.flatMap(({ name, role }) => (role === "controlplane" ? [name] : []));
  if (backup === undefined || names.length === 0) return;
  const controlPlanes = nodes.filter(({ role }) => role === "controlplane");
  const reason = `before ${names.join(", ")} ${names.length === 1 ? "leaves" : "leave"} the cluster`;
  await backupFirst(backup, { controlPlanes, credentials }, reason, context);
}

/** Checked before anything is changed: for each node that leaves, as if those before it had left already. */
async function refuseLoss(
  leaving: readonly Member[],
  staying: readonly Member[],
  credentials: TalosCredentials,
  context: NodeResourceContext,
): Promise<void> {
  const controlPlanes = leaving.filter(({ role }) => role === "controlplane");
  const [first] = controlPlanes;
  if (first === undefined) return;
  const rest = staying.filter(({ role }) => role === "controlplane");
  context.report("checks whether etcd keeps its quorum");
  const etcd = new EtcdMembers([...rest, ...controlPlanes], credentials, context);
  try {
    const { members } = await etcd.observe();
    let voters = await etcd.voters();
    for (const { name: node, address } of controlPlanes) {
      const own = members.find((member) => memberIsAt(member, address));
      const isRenamed = rest.some((peer) => peer.address === address);
      if (own === undefined || own.learner || isRenamed) continue;
      const loss = lossOfQuorum(voters, own.id);
      if (loss !== undefined)
        throw new SluiceError({ code: "SLU-L101", seen: `without ${node}: ${loss}. Nothing was changed` });
      voters = voters.filter(({ id }) => id !== own.id);
    }
  } catch (error) {
    throw failureOf(controlPlanes.map(({ name }) => name).join(", "), error);
  }
}

function failureOf(node: string, error: unknown, seconds = 0): SluiceError {
  const failure = asFailure(error, "SLU-L103");
  return endFailure(failure, { node, what: "the node to leave the cluster", state: "leaving", attempts: 1, seconds });
}
