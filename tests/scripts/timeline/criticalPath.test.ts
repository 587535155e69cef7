import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { criticalPath } from "../../../scripts/timeline/criticalPath.ts";
import { partsOfTime } from "../../../scripts/timeline/parts.ts";
import type { Step } from "../../../scripts/timeline/steps.ts";

function step(urn: string, began: number, ended: number, type = "a:B"): Step {
  return { urn, type, name: urn, op: "create", began, ended, outcome: "done", texts: [], errors: [] };
}

/** Each portion in a few characters. */
const shown = (...args: Parameters<typeof criticalPath>) =>
  criticalPath(...args).map(({ step, began, ended }) => `${step?.urn ?? "-"} ${began}-${ended}`);

describe("the critical path of a run", () => {
  test.each<[string, readonly Step[], Readonly<Record<string, string[]>>, readonly string[]]>([
    ["of nothing is empty", [], {}, []],
    [
      "leads along what was waited for, even if something else ended later",
      [step("a", 100, 300), step("slow", 100, 390), step("b", 400, 900)],
      { b: ["a"] },
      ["- 0-100", "a 100-300", "- 300-400", "b 400-900"],
    ],
    [
      "leads along what ended last before, where nothing is known of what was waited for",
      [step("a", 0, 300), step("b", 0, 390), step("c", 400, 900)],
      {},
      ["b 0-390", "- 390-400", "c 400-900"],
    ],
    [
      "leads from a resource to its earlier attempt",
      [step("a", 0, 300), step("other", 0, 900), step("a", 1000, 1200)],
      { a: ["none"] },
      ["a 0-300", "- 300-1000", "a 1000-1200"],
    ],
    [
      "has steps of no time, in their order",
      [step("a", 0, 100), step("b", 100, 100), step("c", 100, 100)],
      { b: ["a"], c: ["b"] },
      ["a 0-100", "b 100-100", "c 100-100"],
    ],
    [
      "has no time twice where an end was reported late",
      [step("a", 0, 120), step("b", 100, 200)],
      { b: ["a"] },
      ["a 0-100", "b 100-200"],
    ],
  ])("%s", (_, steps, dependencies, path) => {
    expect(shown(steps, new Map(Object.entries(dependencies)), 0)).toEqual(path);
  });

  const steps = fc.array(
    fc.record({ urn: fc.constantFrom("a", "b", "c", "d"), began: fc.nat(1000), took: fc.nat(500) }),
    { minLength: 1, maxLength: 12 },
  );

  test("has no break and no overlap, whatever the steps, and its parts are all of its time", () => {
    fc.assert(
      fc.property(steps, fc.boolean(), (raw, areGates) => {
        const type = areGates ? "pulumi-nodejs:dynamic/gates:Etcd" : "a:B";
        const all = raw.map(({ urn, began, took }) => step(urn, began, began + took, type));
        const path = criticalPath(all, new Map([["a", ["b"]]]), 0);
        const ended = Math.max(...all.map((one) => one.ended));
        expect([path[0]?.began, path.at(-1)?.ended]).toEqual([0, ended]);
        for (const [place, { began }] of path.slice(1).entries()) expect(began).toBe(path[place]?.ended);
        const waits = [{ began: 0, held: 200, opened: 300, stableSeconds: 0 }];
        const parts = partsOfTime(path, waits, [
          { began: 0, ended: 400 },
          { began: 500, ended: 2000 },
        ]);
        expect(Object.values(parts).reduce((sum, one) => sum + one, 0)).toBe(ended);
      }),
    );
  });
});

test("windows of gates that are side by side count once, and so does the end of the chain", () => {
  const csi = step("csi", 0, 400, "pulumi-nodejs:dynamic/gates:CsiReady");
  const end = step("end", 400, 500, "pulumi-nodejs:dynamic/chain:StableGates");
  const waits = [
    { began: 0, held: 100, opened: 400, stableSeconds: 0.3 },
    { began: 0, held: 200, opened: 300, stableSeconds: 0.1 },
    { began: 400, held: 400, opened: 500, stableSeconds: 0.1 },
  ];
  const parts = partsOfTime(criticalPath([csi, end], new Map(), 0), waits, [{ began: 0, ended: 500 }]);
  expect(parts).toMatchObject({ gates: 100, windows: 400, resources: 0 });
});

test("the time of a run is divided into resources, gates, stability windows, engine and delays between its runs", () => {
  const etcd = step("etcd", 500, 900, "pulumi-nodejs:dynamic/gates:Etcd");
  const path = criticalPath([step("a", 100, 300), etcd], new Map(), 0);
  const waits = [{ began: 500, held: 600, opened: 890, stableSeconds: 0.29 }];
  expect(
    partsOfTime(path, waits, [
      { began: 0, ended: 350 },
      { began: 450, ended: 900 },
    ]),
  ).toEqual({
    resources: 200,
    gates: 110,
    windows: 290,
    engine: 200,
    resuming: 100,
  });
});
