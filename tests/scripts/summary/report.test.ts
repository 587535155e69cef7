import { describe, expect, test } from "@jest/globals";
import { overheadOf, report } from "../../../scripts/summary/report.ts";
import { readStackState } from "../../../scripts/summary/stackState.ts";
import { width } from "../../../scripts/workspace/table.ts";
import { at, configured, opened, runOf, sent, stateWith, timeline } from "./runs.ts";

const told = (parts: Parameters<typeof runOf>[0]) =>
  report(runOf(parts)).flatMap(({ titles, lines }) => (titles === undefined ? lines : [titles, ...lines]));

const trace = {
  began: at(0),
  lines: [
    opened("Preflight", [8, 8.2, 8.2, 0]),
    opened("Etcd", [9, 10.1, 15.1, 5]),
    opened("KubernetesApi", [16, 16.5, 21.5, 5]),
  ],
};
const lab = timeline(
  "1 cp-1 server initializing",
  "3 cp-1 api maintenance",
  "9.5 cp-1 bootstrap asked",
  "10 cp-1 etcd voter",
  "15 cp-1 pod ready pod=kube-system/kube-apiserver",
);

describe("the end of an up", () => {
  test("tells the nodes, what each gate saw, how long it took, and how late it was", () => {
    expect(told({ trace, timeline: lab, ended: at(24) })).toEqual([
      "  Node  Role           Address    Reached at    Talos   Kubernetes  Config",
      "  cp-1  control plane  10.0.1.11  198.51.100.1  1.13.8  -           unchanged",
      "  w-1   worker         10.0.1.21  198.51.100.2  1.13.8  -           unchanged",
      "  Gate           Saw                                  Took  After the fact",
      "  Preflight      2 machines, each the one meant      0.2 s          0.20 s",
      "  Etcd           1 voting member, no alarm           6.0 s          0.10 s",
      "  KubernetesApi  ready at https://198.51.100.1:6443  5.5 s          0.10 s",
      "  Client certificate  good for 364 days",
      "  This run            24.0 s: 2.5 s the lab's own, 10.4 s for which gates held, 11.1 s over that",
    ]);
  });

  test("says of gates that nothing was done for them in this run", () => {
    const lines = told({ trace: { began: at(0), lines: [] }, ended: at(3) });
    // Two nodes and three gates.
    expect(lines.filter((line) => line.endsWith("  unchanged"))).toHaveLength(5);
    expect(lines.at(-1)).toBe("  This run            3.0 s");
    const onLab = told({ trace: { began: at(30), lines: [] }, timeline: lab, ended: at(33) });
    expect(onLab.at(-1)).toBe("  This run            3.0 s, with nothing to wait for");
    expect(onLab).toContain("  Gate           Saw                                      Took");
  });

  test("tells without a lab how long it took, and for how long of it gates had to hold", () => {
    const lines = told({ trace, ended: at(24) });
    expect(lines).toContain("  Etcd           1 voting member, no alarm           6.0 s");
    expect(lines.at(-1)).toBe("  This run            24.0 s: 10.4 s for which gates held");
  });

  test("S1.7 that failed half way says which gates are open, which is not, and which were never come to", () => {
    const failed = { ...opened("Etcd", [9, 9, 9, 0]), outcome: "failed" as const, ended: at(69) };
    const lines = told({
      trace: { began: at(0), lines: [opened("Preflight", [8, 8.2, 8.2, 0]), failed] },
      state: stateWith("NodeConfiguration", "Preflight"),
      ended: at(70),
    });
    expect(lines.filter((line) => /^ {2}(Preflight|Etcd|KubernetesApi)/.test(line))).toEqual([
      "  Preflight      2 machines, each the one meant   0.2 s",
      "  Etcd           did not open: see above         60.0 s",
      "  KubernetesApi  not waited at yet",
    ]);
    expect(lines.at(-1)).toBe("  This run  70.0 s");
  });

  test("of an environment whose first machine could not be made has all nodes and no gate", () => {
    const lines = told({ state: stateWith(), ended: at(2) });
    expect(lines).toContain("  w-1   worker         10.0.1.21  -           -      -           not reached");
    expect(lines.filter((line) => line.endsWith("not waited at yet"))).toHaveLength(3);
  });

  test("S1.5 lists every node with what came of its config, its tries and why they failed, also when others succeed", () => {
    const nodes = ["cp-1", "w-1", "w-2", "w-3", "w-4"].map((name, place, all) => ({
      ...{ name, role: name.startsWith("cp") ? "controlplane" : "worker", address: `10.0.1.${place}` },
      // Two lanes.
      behind: all[place - 2],
    }));
    const resources = [
      configured("cp-1", { attempts: 1 }),
      configured("w-1", { attempts: 3, lastError: "SLU-T107" }),
      configured("w-4", { attempts: 1 }),
    ];
    const lines = told({
      expected: { clusterName: "test", nodes, gates: [] },
      state: readStackState({ deployment: { resources } }),
      trace: { began: at(0), lines: [sent("cp-1"), sent("w-1"), sent("w-2", "SLU-T202"), sent("other-w-2")] },
      ended: at(9),
    });
    const config = lines[0]?.indexOf("Config") ?? 0;
    expect(lines.slice(1, 6).map((line) => line.slice(config))).toEqual([
      "done",
      "done, 3 tries (SLU-T107)",
      "failed: SLU-T202 The disk selector…",
      "not reached",
      "unchanged",
    ]);
    const [, , , third = ""] = told({
      ...{ expected: { clusterName: "test", nodes, gates: [] }, state: readStackState({}) },
      trace: { began: at(0), lines: [sent("cp-1", "SLU-T101")] },
    });
    expect(third.slice(-"not reached: behind cp-1".length)).toBe("not reached: behind cp-1");
  });

  test("names what a refresh found not to be so any more", () => {
    const state = stateWith("Etcd");
    const etcd = state.gates.get("Etcd");
    if (etcd === undefined) throw new Error("it is not there");
    const gates = new Map([["Etcd", { ...etcd, drift: ["cp-1: is a learner still"] }]]);
    expect(told({ state: { ...state, gates } }).join("\n")).toContain("no longer so: cp-1: is a learner still");
  });

  test("shows no secret, and fits a terminal", () => {
    const lines = told({ trace, timeline: lab, ended: at(24) });
    expect(lines.join("\n")).not.toMatch(/geheim|ciphertext/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  });
});

describe("the overhead", () => {
  test("is what remains of a run without the lab's own time and the stable windows", () => {
    const { all, lab: own, held, over } = overheadOf(runOf({ trace, timeline: lab, ended: at(24) })) ?? {};
    // Two seconds for a machine and half a second for etcd; the API comes up while etcd's gate holds.
    expect([all, own, held, over]).toEqual([24, 2.5, 10.4, 11.1].map((value) => expect.closeTo(value)));
  });

  test("counts nothing of what was in the lab before or after the run", () => {
    const later = { ...trace, began: at(5) };
    expect(overheadOf(runOf({ trace: later, timeline: lab, ended: at(24) }))).toMatchObject({
      lab: expect.closeTo(0.5),
    });
  });

  test("is not known where nobody took the time", () => {
    expect(overheadOf(runOf({ timeline: lab }))).toBeUndefined();
  });
});
