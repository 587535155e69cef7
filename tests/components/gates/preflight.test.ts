import { describe, expect, test } from "@jest/globals";
import type { MachineFacts, PreflightNode } from "../../../components/gates/machineFaults.ts";
import { preflight } from "../../../components/gates/preflight.ts";
import type { NodeView } from "../../../components/gates/watchNodes.ts";
import { recordedLooks } from "./recordedLooks.ts";
import { verdicts } from "./verdicts.ts";

type View = NodeView<MachineFacts, PreflightNode>;
type Look = readonly View[];

const look = recordedLooks<Look>("preflight");
const silent = "1.13.8 in maintenance, one machine silent";

function said(observation: Look, talosVersion = "1.13.8"): readonly string[] {
  return verdicts(preflight, { nodes: [], credentials: { ca: "", crt: "", key: "" }, talosVersion }, observation);
}

/** The machines that answer, whose disk is /dev/sda, with another node behind each. */
function machines(node: Partial<PreflightNode>): Look {
  return look(silent)
    .filter(({ facts }) => facts !== undefined)
    .map((view) => ({ ...view, node: { ...view.node, install: { disk: "/dev/sda" }, ...node } }));
}

describe("Preflight gate (S1.1)", () => {
  test("opens for machines that are as the environment says", () => {
    const [first] = machines({});
    expect(said(machines({}))).toStrictEqual([]);
    expect(
      said(
        first === undefined ? [] : [{ ...first, node: { ...first.node, uuid: first.facts?.uuid.toUpperCase() ?? "" } }],
      ),
    ).toStrictEqual([]);
  });

  test("nothing has failed while a machine may still answer", () => {
    expect(said(look("1.13.8 in maintenance, one machine still to answer"))).toStrictEqual([
      expect.stringMatching(
        /^pending cp-1: no disk is \/dev\/vda; there is \/dev\/sda \(80 GB, model 'QEMU HARDDISK', serial '\d+'/,
      ),
      expect.stringMatching(/^pending w-1: no disk is/),
      expect.stringMatching(/^pending ghost: does not answer/),
    ]);
  });

  test("after three tries all faults of all machines are in one report", () => {
    expect(said(look(silent))).toStrictEqual([
      expect.stringMatching(/^failed SLU-T202 cp-1: no disk is/),
      expect.stringMatching(/^failed SLU-T202 w-1: no disk is/),
      "failed SLU-T101 ghost: does not answer: no answer within 3 s (3 tries)",
    ]);
  });

  test("a machine that boots is waited for, where nothing else is wrong", () => {
    const boots = look(silent).filter(({ node }) => node.name === "ghost");
    expect(said([...machines({}), ...boots])).toStrictEqual(["pending ghost: does not answer: no answer within 3 s"]);
  });

  test("another machine than the one meant", () => {
    expect(said(machines({ mac: "96:00:00:00:00:01", uuid: "11111111-2222-3333-4444-555555555555" }))).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^failed SLU-T302 cp-1: no NIC has the MAC address 96:00:00:00:00:01; there are 96:00:/),
        expect.stringMatching(/^failed SLU-T302 w-1: its machine UUID is .*, not 11111111-/),
      ]),
    );
  });

  test("a Talos that is older than the config, and one that is newer", () => {
    expect(said(machines({}), "1.14.0")).toContain(
      "failed SLU-T303 cp-1: runs Talos 1.13.8; its config is made for 1.14.0",
    );
    expect(said(machines({}), "1.12.6")).toStrictEqual([]);
  });

  test("a selector that fits several disks", () => {
    const doubled = machines({ install: { diskSelector: { model: "QEMU*" } } }).map((view): View => {
      const [disk] = view.facts?.disks ?? [];
      if (view.facts === undefined || disk === undefined) throw new Error("nothing recorded");
      return { ...view, facts: { ...view.facts, disks: [disk, { ...disk, dev_path: "/dev/sdb" }] } };
    });
    expect(said(doubled)).toContainEqual(
      expect.stringMatching(/^failed SLU-T304 cp-1: model 'QEMU\*' matches 2 disks: \/dev\/sda .*; \/dev\/sdb/),
    );
  });

  test("what is ours already is not asked for its disks", () => {
    const ours = machines({ install: { disk: "/dev/vda" } }).map(
      (view): View => ({ ...view, state: { kind: "ours", version: "v1.13.8" } }),
    );
    expect(said(ours)).toStrictEqual([]);
  });

  test("a foreign node is never overwritten (S0.2)", () => {
    const foreign = machines({}).map(
      ({ node }): View => ({ node, tries: 3, state: { kind: "foreign", why: "another PKI" } }),
    );
    expect(said(foreign)).toContainEqual(expect.stringMatching(/^failed SLU-T109 cp-1: .*another PKI$/));
  });
});
