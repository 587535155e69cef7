import { describe, expect, test } from "@jest/globals";
import { type Stage, stages } from "../../../components/gates/stages.ts";
import type { NodeView } from "../../../components/gates/talos/nodeView.ts";
import { recordedLooks } from "./recordedLooks.ts";
import { verdicts } from "./verdicts.ts";

type Look = readonly NodeView<Stage>[];

const look = recordedLooks<Look>("stages");
const inputs = { nodes: [], credentials: { ca: "", crt: "", key: "" } };
const said = (observation: Look) => verdicts(stages, inputs, observation);

describe("S1.4 the gate Stages", () => {
  test.each(["1.12.6 in its stages", "1.13.8 in its stages"])("opens for a cluster of %s", (name) => {
    expect(said(look(name))).toStrictEqual([]);
  });

  test("opens for a control plane that runs because it was bootstrapped before", () => {
    const running = look("1.13.8 in its stages").map(
      (view): NodeView<Stage> => ({ ...view, facts: { stage: "running", unmet: [] } }),
    );
    expect(said(running)).toStrictEqual([]);
  });

  test("S5.5 S1.7(5) fails for every node that is in maintenance again", () => {
    expect(said(look("1.12.6 before the configs are sent"))).toContain(
      "failed SLU-T215 w-1: is in maintenance again, without its config",
    );
  });

  test("S1.7(1) waits for a node of 1.12 that refuses connections while it installs", () => {
    expect(said(look("1.12.6 while the configs are sent"))).toContainEqual(
      expect.stringMatching(/^pending cp-\d: boots, installs or reboots \(connect ECONNREFUSED/),
    );
  });

  test("S1.7(5) names the stage in which a node is stuck, and what is unmet [C33]", () => {
    expect(said(look("1.13.8 with workers that do not come up"))).toStrictEqual([
      'pending w-1: is in stage booting, not running; unmet: services: kubelet not running, nodeReady: node "w-1" status is not available yet',
      'pending w-2: is in stage booting, not running; unmet: nodeReady: node "w-2" status is not available yet',
    ]);
  });

  test("names a control plane that neither boots nor runs", () => {
    const [view] = look("1.13.8 in its stages");
    if (view === undefined) throw new Error("nothing recorded");
    expect(said([{ ...view, facts: { stage: "upgrading", unmet: [] } }])).toStrictEqual([
      "pending cp-1: is in stage upgrading, not booting or running",
    ]);
  });

  test("requires that a running worker answers with our certificate, too", () => {
    const views = look("1.13.8 in its stages").map(
      (view): NodeView<Stage> =>
        view.node.role === "worker"
          ? { ...view, state: { kind: "settling", version: "v1.13.8", stage: "running" } }
          : view,
    );
    expect(said(views)).toStrictEqual([
      "pending w-1: waits for its certificate, in stage running",
      "pending w-2: waits for its certificate, in stage running",
    ]);
  });

  test("S1.7(5) fails at once on a foreign node", () => {
    const [first, ...others] = look("1.13.8 in its stages");
    if (first === undefined) throw new Error("nothing recorded");
    const foreign: NodeView<Stage> = { node: first.node, tries: 1, state: { kind: "foreign", why: "another PKI" } };
    expect(said([foreign, ...others])).toContain("failed SLU-T109 cp-1: 198.51.100.249: another PKI");
  });
});

test("the evidence of Stages in a few words", () => {
  expect(stages.words({ nodes: ["cp-1", "w-1"] })).toBe("2 nodes with their configs");
});
