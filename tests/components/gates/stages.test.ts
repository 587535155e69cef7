import { describe, expect, test } from "@jest/globals";
import type { NodeView } from "../../../components/gates/nodeView.ts";
import { type Stage, stages } from "../../../components/gates/stages.ts";
import { recordedLooks } from "./recordedLooks.ts";
import { verdicts } from "./verdicts.ts";

type Look = readonly NodeView<Stage>[];

const look = recordedLooks<Look>("stages");
const inputs = { nodes: [], credentials: { ca: "", crt: "", key: "" } };
const said = (observation: Look) => verdicts(stages, inputs, observation);

describe("Stages gate (S1.4)", () => {
  test.each(["1.12.6 in its stages", "1.13.8 in its stages"])("opens for a cluster of %s", (name) => {
    expect(said(look(name))).toStrictEqual([]);
  });

  test("a control plane that was bootstrapped before runs, and is as good", () => {
    const running = look("1.13.8 in its stages").map(
      (view): NodeView<Stage> => ({ ...view, facts: { stage: "running", unmet: [] } }),
    );
    expect(said(running)).toStrictEqual([]);
  });

  test("names every node that is in maintenance", () => {
    expect(said(look("1.12.6 before the configs are sent"))).toContain(
      "pending w-1: is in maintenance: it has no config",
    );
  });

  test("a node of 1.12 that installs refuses the connection", () => {
    expect(said(look("1.12.6 while the configs are sent"))).toContainEqual(
      expect.stringMatching(/^pending cp-\d: boots, installs or reboots \(connect ECONNREFUSED/),
    );
  });

  test("names the stage in which a node is stuck, and what is unmet", () => {
    expect(said(look("1.13.8 with workers that do not come up"))).toStrictEqual([
      'pending w-1: is in stage booting, not running; unmet: services: kubelet not running, nodeReady: node "w-1" status is not available yet',
      'pending w-2: is in stage booting, not running; unmet: nodeReady: node "w-2" status is not available yet',
    ]);
  });

  test("says of a control plane that it may boot or run, and does neither", () => {
    const [view] = look("1.13.8 in its stages");
    if (view === undefined) throw new Error("nothing recorded");
    expect(said([{ ...view, facts: { stage: "upgrading", unmet: [] } }])).toStrictEqual([
      "pending cp-1: is in stage upgrading, not booting or running",
    ]);
  });

  test("a worker that runs has to answer with our certificate, too", () => {
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

  test("a foreign node ends the wait", () => {
    const [first, ...others] = look("1.13.8 in its stages");
    if (first === undefined) throw new Error("nothing recorded");
    const foreign: NodeView<Stage> = { node: first.node, tries: 1, state: { kind: "foreign", why: "another PKI" } };
    expect(said([foreign, ...others])).toContain("failed SLU-T109 cp-1: 198.51.100.249: another PKI");
  });
});
