import { describe, expect, test } from "@jest/globals";
import { labTime, stabilitySeconds } from "../../../../scripts/summary/timing/timing.ts";
import { at, runOf, labTimeline as timeline, openedTrace as trace } from "../runs.ts";

describe("the time of a run on a lab", () => {
  test("consists of the lab's own part, the stability windows, and overhead", () => {
    const run = runOf({ trace, timeline, ended: at(24) });
    // Two seconds for a machine and half a second for etcd; the API comes up during the stability window of etcd's gate.
    expect(labTime(run)).toBeCloseTo(2.5);
    expect(stabilitySeconds(run)).toBeCloseTo(10.4);
  });

  test("leaves out what became true in the lab before or after the run", () => {
    expect(labTime(runOf({ trace: { ...trace, began: at(5) }, timeline, ended: at(24) }))).toBeCloseTo(0.5);
  });

  test("is unknown without a trace or a lab", () => {
    expect(labTime(runOf({ timeline }))).toBeUndefined();
    expect(labTime(runOf({ trace }))).toBeUndefined();
    expect(stabilitySeconds(runOf({ timeline }))).toBe(0);
  });
});
