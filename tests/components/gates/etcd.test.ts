import { describe, expect, test } from "@jest/globals";
import { type EtcdFacts, etcd } from "../../../components/gates/etcd.ts";
import type { NodeView } from "../../../components/gates/talos/nodeView.ts";
import { recordedLooks } from "./recordedLooks.ts";
import { verdicts } from "./verdicts.ts";

type Look = readonly NodeView<EtcdFacts>[];

const look = recordedLooks<Look>("etcd");
const inputs = { nodes: [], credentials: { ca: "", crt: "", key: "" } };
const said = (observation: Look) => verdicts(etcd, inputs, observation);
const whole = "1.13.8 whole";

function changed(change: (facts: EtcdFacts, name: string) => EtcdFacts): Look {
  return look(whole).map((view) =>
    view.facts === undefined ? view : { ...view, facts: change(view.facts, view.node.name) },
  );
}

describe("S3.2 the gate Etcd", () => {
  test.each(["1.12.6 whole", whole])("opens for %s", (name) => {
    expect(said(look(name))).toStrictEqual([]);
    expect(etcd.evidence(look(name), inputs)).toStrictEqual({ members: ["cp-1", "cp-2", "cp-3"], alarms: 0 });
  });

  test("reports the nodes' reasons before bootstrap", () => {
    expect(said(look("1.12.6 before bootstrap"))).toContainEqual(
      expect.stringMatching(/^pending cp-1: .*etcd is not running$/),
    );
  });

  test("names a member that stays a learner (S1.7(9))", () => {
    expect(said(look("1.13.8 with a learner"))).toContainEqual(
      expect.stringMatching(/^pending cp-\d: is still a learner/),
    );
  });

  test.each([
    ["has caught up, which is a stall", 95, "it has caught up with the leader, and is not promoted"],
    ["takes over the log, a stall only while its entry stays the same", 40, "it has entry 40 of the log"],
  ])("reports how far a learner is that %s (S5.5)", (_, appliedIndex, stall) => {
    const behind = changed(({ members, alarms }, name) => ({
      members: members.map((member) => ({ ...member, learner: member.name === "cp-2" })),
      alarms,
      appliedIndex: name === "cp-2" ? appliedIndex : 100,
    }));
    expect(etcd.conditions(inputs).flatMap(({ evaluate }) => evaluate(behind))).toEqual([
      { kind: "pending", where: "cp-2", reason: `is still a learner: ${stall}`, stall },
    ]);
  });

  test("names a member that waits for a learner together with it", () => {
    const waiting = changed(({ members, alarms }) => ({
      members: members
        .filter(({ name }) => name !== "cp-3")
        .map((member) => ({ ...member, learner: member.name === "cp-2" })),
      alarms,
    })).map((view): NodeView<EtcdFacts> => {
      const { facts, ...rest } = view;
      return view.node.name === "cp-3" ? { ...rest, problem: "etcd is not running" } : view;
    });
    expect(said(waiting)).toStrictEqual([
      "pending cp-2: is still a learner: it has not caught up with the leader",
      "pending cp-3: is not a member: etcd is not running",
      "pending cp-3: does not see cp-1, cp-2",
    ]);
  });

  test("names a control plane that is in no member list", () => {
    const without = changed(({ members, alarms }) => ({
      members: members.filter(({ name }) => name !== "cp-3"),
      alarms,
    }));
    expect(said(without)).toStrictEqual(["pending cp-3: is not a member"]);
  });

  test("S1.7(9) names a member that was added and has not started", () => {
    const added = changed(({ members, alarms }) => ({
      members: members.map((member) => (member.name === "cp-3" ? { ...member, name: "" } : member)),
      alarms,
    }));
    expect(said(added)).toStrictEqual(["pending cp-3: was added, but its etcd has not started"]);
  });

  test("fails at once on an unexpected member", () => {
    const stranger = { id: "abc", name: "old-cp", peerUrls: ["https://10.0.1.99:2380"], learner: false };
    expect(said(changed(({ members, alarms }) => ({ members: [...members, stranger], alarms })))).toStrictEqual([
      "failed SLU-T323 member abc: old-cp at https://10.0.1.99:2380",
    ]);
  });

  test("fails at once on an alarm, and names it with its member once", () => {
    const alarmed = changed(({ members }) => ({
      members,
      alarms: [{ memberId: members[0]?.id ?? "", alarm: "NOSPACE" }],
    }));
    expect(said(alarmed)).toStrictEqual([expect.stringMatching(/^failed SLU-T322 cp-\d: alarm NOSPACE$/)]);
  });

  test("S1.7(9) names a node that sees fewer members than the others", () => {
    const split = changed(({ members, alarms }, name) => ({
      members: name === "cp-2" ? members.filter((member) => member.name !== "cp-3") : members,
      alarms,
    }));
    expect(said(split)).toStrictEqual(["pending cp-2: does not see cp-3"]);
  });

  test("reads IPv6 addresses from member URLs, too", () => {
    const sixes = look(whole).map((view, index) => ({
      ...view,
      node: { ...view.node, address: `fd00::${index + 1}` },
      facts: {
        alarms: [],
        members: [1, 2, 3].map((n) => ({
          id: `${n}`,
          name: `cp-${n}`,
          peerUrls: [`https://[fd00::${n}]:2380`],
          learner: false,
        })),
      },
    }));
    expect(said(sixes)).toStrictEqual([]);
  });
});

test("the evidence of Etcd in a few words", () => {
  expect(etcd.words({ members: ["cp-1"], alarms: 0 })).toBe("1 voting member, no alarm");
});
