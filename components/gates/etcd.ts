import { list } from "../model/untyped.ts";
import { resources } from "../talos/client/resources.ts";
import type { EtcdAlarm, EtcdMember } from "../talos/client/talosClient.ts";
import { memberIsAt } from "../talos/etcd/etcdMember.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import type { ClusterFacts } from "./clusterFacts.ts";
import { many } from "./evidenceWords.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { lazily } from "./lazily.ts";
import { everyNodeOurs } from "./talos/nodeAnswers.ts";
import type { NodeView, Reading, TalosGateInputs } from "./talos/nodeView.ts";

/** etcd as one control plane reports it. Without a quorum it reports no alarms at all. */
export interface EtcdFacts {
  readonly members: readonly EtcdMember[];
  readonly alarms: readonly EtcdAlarm[];
  /** Up to which entry of its log it has come, while there is a learner. */
  readonly appliedIndex?: number;
}

type Observation = readonly NodeView<EtcdFacts>[];

type Facts = Pick<ClusterFacts, "talosNodes" | "talos" | "ground">;

/** etcd is complete: its members are exactly the control planes, all of them vote, agree on the members, and have no alarm. */
export const etcd: GateDefinition<TalosGateInputs, Observation, Facts> = {
  name: "Etcd",
  timeoutCode: "SLU-T321",
  resource: "etcd",
  proves: "the control planes are the members of etcd",
  opensWhen: "its members are exactly the control planes, all of them vote, agree on the members and have no alarm",
  timeout: { key: "etcd", seconds: 300 },
  canFlap: true,
  inputs: ({ talosNodes }) => ({ nodes: talosNodes }),
  credentials: ({ talos }) => talos,
  triggers: ({ ground }) => ground,
  conditions: () => [everyNodeOurs, noStranger, allMembers, noAlarm, agreed],
  observe: ({ nodes, credentials }, signal, clock) =>
    lazily(async () => {
      const { watchNodes } = await import("./talos/watchNodes.ts");
      const controlPlanes = nodes.filter(({ role }) => role === "controlplane");
      return watchNodes({ nodes: controlPlanes, credentials }, reading, signal, clock);
    }),
  evidence: (views) => ({ members: views.map(({ node }) => node.name), alarms: 0 }),
  words: ({ members }) => `${many(list(members), "voting member")}, no alarm`,
};

/** etcd has no watch for members: a learner that becomes a voter is only found by polling. */
const reading: Reading<EtcdFacts> = {
  follow: [resources.services],
  intervalMs: 100,
  read: async (client, options) => {
    // One after the other: if etcd does not run, the error is always that of the same call.
    const members = await client.etcdMembers(options);
    const alarms = await client.etcdAlarms(options);
    if (!members.some(({ learner }) => learner)) return { members, alarms };
    return { members, alarms, appliedIndex: await client.etcdAppliedIndex(options) };
  },
};

const noStranger: Condition<Observation> = {
  phrase: "etcd to have no members other than the control planes",
  evaluate(views) {
    const strangers = membersOf(views).filter((member) => !views.some(({ node }) => memberIsAt(member, node.address)));
    const told = new Map(strangers.map(({ id, name, peerUrls }) => [id, `${name || id} at ${peerUrls.join(", ")}`]));
    return [...told].map(([id, reason]) => ({ kind: "failed", where: `member ${id}`, reason, code: "SLU-T323" }));
  },
};

/** A node that is not a member may have to wait for another that is still a learner: both are reported together. */
const allMembers: Condition<Observation> = {
  phrase: "every control plane to be a voting member of etcd",
  evaluate(views) {
    const members = membersOf(views);
    return views.flatMap(({ node: { name, address }, problem, facts }) => {
      const own = members.filter((member) => memberIsAt(member, address));
      const others = views.flatMap((view) => (view.facts === facts ? [] : (view.facts?.appliedIndex ?? [])));
      const stall = own.some(({ learner }) => learner) ? standstill(facts?.appliedIndex, others) : undefined;
      // If no node lists the members, only the nodes' own problems are known.
      const lack = members.length === 0 && problem !== undefined ? undefined : lackOf(own, stall);
      const reason = [lack, problem].filter((one) => one !== undefined).join(": ");
      return reason === "" ? [] : [{ ...pending(name, reason), ...(stall !== undefined && { stall }) }];
    });
  },
};

/** etcd promotes a learner once it has this share of the log. */
const enoughOfLog = 0.9;

/** What a learner does not get beyond: it makes progress as long as it takes over entries of the log. */
function standstill(appliedIndex: number | undefined, others: readonly number[]): string | undefined {
  if (appliedIndex === undefined || others.length === 0) return undefined;
  if (appliedIndex >= enoughOfLog * Math.max(...others)) return "it has caught up with the leader, and is not promoted";
  return `it has entry ${appliedIndex} of the log`;
}

/** Why a control plane is not a voter yet. */
function lackOf(entries: readonly EtcdMember[], standstill: string | undefined): string | undefined {
  if (entries.length === 0) return "is not a member";
  if (entries.some(({ name }) => name === "")) return "was added, but its etcd has not started";
  if (!entries.some(({ learner }) => learner)) return undefined;
  return `is still a learner: ${standstill ?? "it has not caught up with the leader"}`;
}

const noAlarm: Condition<Observation> = {
  phrase: "etcd to have no alarm",
  evaluate(views) {
    const alarms = new Map(
      views.flatMap(({ facts }) => facts?.alarms ?? []).map((one) => [`${one.alarm} ${one.memberId}`, one]),
    );
    const members = membersOf(views);
    return [...alarms.values()].map(({ memberId, alarm }) => {
      const where = members.find(({ id }) => id === memberId)?.name ?? `member ${memberId}`;
      return { kind: "failed", where, reason: `alarm ${alarm}`, code: "SLU-T322" };
    });
  },
};

const agreed: Condition<Observation> = {
  phrase: "all control planes to see the same members",
  evaluate: (views) =>
    views.flatMap(({ node, facts }) => {
      const seen = new Set(facts?.members.map(({ id }) => id));
      const missed = new Map(membersOf(views).map(({ id, name }) => [id, name || id]));
      const lacking = [...missed].filter(([id]) => !seen.has(id)).map(([, name]) => name);
      return lacking.length === 0 ? [] : [pending(node.name, `does not see ${lacking.join(", ")}`)];
    }),
};

/** The members that any control plane lists: one that only a single node lists is wrong too. */
const membersOf = (views: Observation): readonly EtcdMember[] => views.flatMap(({ facts }) => facts?.members ?? []);

const pending = (where: string, reason: string): Verdict => ({ kind: "pending", where, reason });
