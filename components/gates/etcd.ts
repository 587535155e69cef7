import { resources } from "../talos/client/resources.ts";
import type { EtcdAlarm, EtcdMember } from "../talos/client/talosClient.ts";
import { memberIsAt } from "../talos/etcdMember.ts";
import type { Condition, GateDefinition, Verdict } from "./gateDefinition.ts";
import { everyNodeOurs } from "./nodeAnswers.ts";
import type { NodeView, Reading, TalosGateInputs } from "./nodeView.ts";
import { watchNodes } from "./watchNodes.ts";

/** etcd as one control plane sees it. That alarms are told at all takes a quorum. */
export interface EtcdFacts {
  readonly members: readonly EtcdMember[];
  readonly alarms: readonly EtcdAlarm[];
}

type Observation = readonly NodeView<EtcdFacts>[];

/** etcd is whole: its members are the control planes, all of them vote, agree, and have no alarm. */
export const etcd: GateDefinition<TalosGateInputs, Observation> = {
  name: "Etcd",
  timeoutCode: "SLU-T321",
  conditions: () => [everyNodeOurs, noStranger, allMembers, noAlarm, agreed],
  observe: ({ nodes, credentials }, signal, clock) =>
    watchNodes({ nodes: nodes.filter(({ role }) => role === "controlplane"), credentials }, reading, signal, clock),
  evidence: (views) => ({ members: views.map(({ node }) => node.name), alarms: 0 }),
};

/** There is no watch for members: a learner that becomes a voter is only seen by looking. */
const reading: Reading<EtcdFacts> = {
  follow: [resources.services],
  every: 100,
  read: async (client, options) => {
    // One after the other: where etcd does not run, what is told of it is always the same.
    const members = await client.etcdMembers(options);
    return { members, alarms: await client.etcdAlarms(options) };
  },
};

const noStranger: Condition<Observation> = {
  phrase: "etcd to have no member but the control planes",
  evaluate(views) {
    const strangers = membersOf(views).filter((member) => !views.some(({ node }) => memberIsAt(member, node.address)));
    const told = new Map(strangers.map(({ id, name, peerUrls }) => [id, `${name || id} at ${peerUrls.join(", ")}`]));
    return [...told].map(([id, reason]) => ({ kind: "failed", where: `member ${id}`, reason, code: "SLU-T323" }));
  },
};

/** One that is no member may have to wait for another, which is still a learner: both are told of together. */
const allMembers: Condition<Observation> = {
  phrase: "every control plane to be a voting member of etcd",
  evaluate(views) {
    const members = membersOf(views);
    return views.flatMap(({ node: { name, address }, problem }) => {
      const own = members.filter((member) => memberIsAt(member, address));
      // Where nobody tells of members, it is known only what the node says of itself.
      const lack = members.length === 0 && problem !== undefined ? undefined : lackOf(own);
      const reason = [lack, problem].filter((one) => one !== undefined).join(": ");
      return reason === "" ? [] : [pending(name, reason)];
    });
  },
};

/** What a control plane lacks to be a voter. */
function lackOf(entries: readonly EtcdMember[]): string | undefined {
  if (entries.length === 0) return "is not a member";
  if (entries.some(({ name }) => name === "")) return "was added, but its etcd has not started";
  return entries.some(({ learner }) => learner)
    ? "is a learner still: it has not caught up with the leader"
    : undefined;
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

/** As any of them sees it: one that only a single node has is wrong, too. */
const membersOf = (views: Observation): readonly EtcdMember[] => views.flatMap(({ facts }) => facts?.members ?? []);

const pending = (where: string, reason: string): Verdict => ({ kind: "pending", where, reason });
