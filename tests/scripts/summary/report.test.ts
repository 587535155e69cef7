import { describe, expect, test } from "@jest/globals";
import { width } from "../../../scripts/base/table.ts";
import { report } from "../../../scripts/summary/report.ts";
import { readStackState } from "../../../scripts/summary/state/stackState.ts";
import { at, configured, labTimeline as lab, opened, runOf, sent, stateWith, openedTrace as trace } from "./runs.ts";

const reported = (parts: Parameters<typeof runOf>[0]) =>
  report(runOf(parts)).flatMap(({ titles, lines }) => (titles === undefined ? lines : [titles, ...lines]));

describe("the summary of an up", () => {
  test("lists the nodes, and each gate with its evidence, its time and its delay", () => {
    expect(reported({ trace, timeline: lab, ended: at(24) })).toEqual([
      "  Node  Role           Address    Reached at    Talos   Kubernetes  Config",
      "  cp-1  control plane  10.0.1.11  198.51.100.1  1.13.8  -           unchanged",
      "  w-1   worker         10.0.1.21  198.51.100.2  1.13.8  -           unchanged",
      "  Gate           Evidence                             Took  Gate delay",
      "  Preflight      2 machines, identities verified     0.2 s      0.20 s",
      "  Etcd           1 voting member, no alarm           6.0 s      0.10 s",
      "  KubernetesApi  ready at https://198.51.100.1:6443  5.5 s      0.10 s",
      "  Client certificate  valid for 364 days",
      "  This run            24.0 s: 2.5 s of the lab, 10.4 s in stability windows, 11.1 s overhead",
    ]);
  });

  test("S6.3 shows in 80 columns where the time went, in two lines", () => {
    expect(report(runOf({ trace, timeline: lab, ended: at(24) }), 80).at(-1)?.lines).toEqual([
      "  Client certificate  valid for 364 days",
      "  This run            24.0 s: 2.5 s of the lab, 10.4 s in stability windows,",
      "                      11.1 s overhead",
    ]);
  });

  test("shows gates that did not run as unchanged", () => {
    const lines = reported({ trace: { began: at(0), lines: [] }, ended: at(3) });
    // Two nodes and three gates.
    expect(lines.filter((line) => line.endsWith("  unchanged"))).toHaveLength(5);
    expect(lines.at(-1)).toBe("  This run            3.0 s");
    const onLab = reported({ trace: { began: at(30), lines: [] }, timeline: lab, ended: at(33) });
    expect(onLab.at(-1)).toBe("  This run            3.0 s, with nothing to wait for");
    expect(onLab).toContain("  Gate           Evidence                                 Took");
  });

  test("S5.2 counts all runs of the engine, and shows how often that ran again", () => {
    const run = runOf({ trace, ended: at(24) });
    const last = (resumed: number) =>
      report({ ...run, resumed })
        .at(-1)
        ?.lines.slice(-2);
    expect(last(0)?.at(-1)).toBe("  This run            24.0 s: 10.4 s in stability windows");
    expect(last(1)?.at(-1)).toBe("  Resumed             once, after transient failures");
    expect(last(2)).toEqual([
      "  This run            24.0 s: 10.4 s in stability windows",
      "  Resumed             2 times, after transient failures",
    ]);
  });

  test("S6.3 does not count the time that its user took to answer", () => {
    const lines = reported({ trace: { began: at(0), lines: [] }, ended: at(63), askedMs: 60_000 });
    expect(lines.at(-1)).toBe("  This run            3.0 s");
  });

  test("shows without a lab how long it took, and how much of it were stability windows", () => {
    const lines = reported({ trace, ended: at(24) });
    expect(lines).toContain("  Etcd           1 voting member, no alarm           6.0 s");
    expect(lines.at(-1)).toBe("  This run            24.0 s: 10.4 s in stability windows");
  });

  test("S1.7 of a run that failed half-way shows which gates opened, which did not, and which were not reached", () => {
    const failed = { ...opened("Etcd", [9, 9, 9, 0]), outcome: "failed" as const, ended: at(69) };
    const lines = reported({
      trace: { began: at(0), lines: [opened("Preflight", [8, 8.2, 8.2, 0]), failed] },
      state: stateWith("AppliedMachineConfig", "Preflight"),
      ended: at(70),
    });
    expect(lines.filter((line) => /^ {2}(Preflight|Etcd|KubernetesApi)/.test(line))).toEqual([
      "  Preflight      2 machines, identities verified   0.2 s",
      "  Etcd           did not open: see above          60.0 s",
      "  KubernetesApi  not reached",
    ]);
    expect(lines.at(-1)).toBe("  This run  70.0 s");
  });

  test("of an environment whose first machine could not be created lists all nodes and no gate", () => {
    const lines = reported({ state: stateWith(), ended: at(2) });
    expect(lines).toContain("  w-1   worker         10.0.1.21  -           -      -           not reached");
    expect(lines.filter((line) => line.endsWith("not reached"))).toHaveLength(5);
  });

  test("S1.5 lists every node with the result of its config, its attempts and why they failed, also when others succeed", () => {
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
    const lines = reported({
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
    const [, , , third = ""] = reported({
      ...{ expected: { clusterName: "test", nodes, gates: [] }, state: readStackState({}) },
      trace: { began: at(0), lines: [sent("cp-1", "SLU-T101")] },
    });
    expect(third.slice(-"not reached: behind cp-1".length)).toBe("not reached: behind cp-1");
  });

  test("names conditions that a refresh found to be no longer met", () => {
    const state = stateWith("Etcd");
    const etcd = state.gates.get("Etcd");
    if (etcd === undefined) throw new Error("missing");
    const gates = new Map([["Etcd", { ...etcd, drift: ["cp-1: is still a learner"] }]]);
    expect(reported({ state: { ...state, gates } }).join("\n")).toContain(
      "no longer healthy: cp-1: is still a learner",
    );
  });

  test("shows no secret, and fits a terminal", () => {
    const lines = reported({ trace, timeline: lab, ended: at(24) });
    expect(lines.join("\n")).not.toMatch(/geheim|ciphertext/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
  });
});
