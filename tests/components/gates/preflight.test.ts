import { describe, expect, test } from "@jest/globals";
import { preflight } from "../../../components/gates/preflight.ts";
import type { MachineView, PreflightNode } from "../../../components/gates/talos/machineFaults.ts";
import { watchMachines } from "../../../components/gates/talos/watchMachines.ts";
import { Feed } from "./feed.ts";
import { recordedLooks } from "./recordedLooks.ts";
import { SteppedClock, settled } from "./steppedClock.ts";
import { verdicts } from "./verdicts.ts";

type View = MachineView;
type Look = readonly View[];

const look = recordedLooks<Look>("preflight");
const silent = "1.13.8 in maintenance, one machine silent";

const inputs = (talosVersion = "1.13.8") => ({ nodes: [], credentials: { ca: "", crt: "", key: "" }, talosVersion });

/** The report after unreachable machines were waited for. */
function said(views: Look, talosVersion?: string): readonly string[] {
  return verdicts(preflight, inputs(talosVersion), { views, isLate: true });
}

/** Machines that answer, with the disk /dev/sda, each for another node. */
function machines(node: Partial<PreflightNode>): Look {
  return look(silent)
    .filter(({ facts }) => facts !== undefined)
    .map((view) => ({ ...view, node: { ...view.node, install: { disk: "/dev/sda" }, ...node } }));
}

describe("S1.1 the gate Preflight", () => {
  test("opens for machines that match the environment", () => {
    const [first] = machines({});
    expect(said(machines({}))).toStrictEqual([]);
    expect(
      said(
        first === undefined ? [] : [{ ...first, node: { ...first.node, uuid: first.facts?.uuid.toUpperCase() ?? "" } }],
      ),
    ).toStrictEqual([]);
  });

  test("does not fail while a machine may still answer", () => {
    const views = look("1.13.8 in maintenance, one machine still to answer");
    expect(verdicts(preflight, inputs(), { views, isLate: false })).toStrictEqual([
      expect.stringMatching(
        /^pending cp-1: no disk is \/dev\/vda; there is \/dev\/sda \(80 GB, model 'QEMU HARDDISK', serial '\d+'/,
      ),
      expect.stringMatching(/^pending w-1: no disk is/),
      expect.stringMatching(/^pending ghost: does not answer/),
    ]);
  });

  test("S1.7(2) reports all faults of all machines at once, also disks that are not there, including a machine that did not come up in the meantime", () => {
    expect(said(look(silent))).toStrictEqual([
      expect.stringMatching(/^failed SLU-T202 cp-1: no disk is/),
      expect.stringMatching(/^failed SLU-T202 w-1: no disk is/),
      "failed SLU-T101 ghost: does not answer: no answer within 3 s (3 tries)",
    ]);
  });

  test("waits for a machine that still boots before the report, however often it was tried", () => {
    const report = verdicts(preflight, inputs(), { views: look(silent), isLate: false });
    expect(report.map((line) => line.split(":")[0])).toStrictEqual(["pending cp-1", "pending w-1", "pending ghost"]);
  });

  test("waits for a machine that boots if there is no other fault", () => {
    const boots = look(silent).filter(({ node }) => node.name === "ghost");
    expect(said([...machines({}), ...boots])).toStrictEqual(["pending ghost: does not answer: no answer within 3 s"]);
  });

  test("reports no number of tries for a machine that answers incompletely", () => {
    const [first, ...others] = machines({ install: { disk: "/dev/vda" } });
    if (first === undefined) throw new Error("nothing recorded");
    const { facts: _, ...rest } = first;
    const settling: View = { ...rest, state: { kind: "settling", version: "v1.13.8", stage: "booting" }, tries: 0 };
    const odd: View = { ...rest, problem: "not authorized" };
    expect(said([settling, ...others])).toContain("pending cp-1: waits for its certificate, in stage booting");
    expect(said([odd, ...others])).toContain("pending cp-1: not authorized");
    expect(said([odd, ...others])).toContainEqual(expect.stringMatching(/^failed SLU-T202 w-1: no disk is/));
  });

  test("S1.7(5) reports a machine that is not the one meant [C34]", () => {
    expect(said(machines({ mac: "96:00:00:00:00:01", uuid: "11111111-2222-3333-4444-555555555555" }))).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^failed SLU-T302 cp-1: no NIC has the MAC address 96:00:00:00:00:01; there are 96:00:/),
        expect.stringMatching(/^failed SLU-T302 w-1: its machine UUID is .*, not 11111111-/),
      ]),
    );
  });

  test("reports a Talos older than the config, and accepts a newer one", () => {
    expect(said(machines({}), "1.14.0")).toContain(
      "failed SLU-T303 cp-1: runs Talos 1.13.8; its config is made for 1.14.0",
    );
    expect(said(machines({}), "1.12.6")).toStrictEqual([]);
  });

  test("S8.3 accepts an older Talos on a node of the cluster: it is upgraded before it gets its config", () => {
    const ours = machines({}).map((view): View => ({ ...view, state: { kind: "ours", version: "v1.13.8" } }));
    expect(said(ours, "1.14.0")).toStrictEqual([]);
  });

  test("S1.7(2) reports a selector that matches several disks", () => {
    const doubled = machines({ install: { diskSelector: { model: "QEMU*" } } }).map((view): View => {
      const [disk] = view.facts?.disks ?? [];
      if (view.facts === undefined || disk === undefined) throw new Error("nothing recorded");
      return { ...view, facts: { ...view.facts, disks: [disk, { ...disk, dev_path: "/dev/sdb" }] } };
    });
    expect(said(doubled)).toContainEqual(
      expect.stringMatching(/^failed SLU-T304 cp-1: model 'QEMU\*' matches 2 disks: \/dev\/sda .*; \/dev\/sdb/),
    );
  });

  test("S5.4 lists the disks to choose from, which a loop device with Talos' own file system is not", () => {
    const looped = machines({ install: { disk: "/dev/vda" } }).map((view): View => {
      const [disk] = view.facts?.disks ?? [];
      if (view.facts === undefined || disk === undefined) throw new Error("nothing recorded");
      const { transport: _, ...loop } = { ...disk, dev_path: "/dev/loop0", readonly: true };
      return { ...view, facts: { ...view.facts, disks: [loop, disk] } };
    });
    expect(said(looped)).toContainEqual(
      expect.stringMatching(/^failed SLU-T202 cp-1: no disk is \/dev\/vda; there is \/dev\/sda /),
    );
  });

  test("does not check the disks of a node that is already ours", () => {
    const ours = machines({ install: { disk: "/dev/vda" } }).map(
      (view): View => ({ ...view, state: { kind: "ours", version: "v1.13.8" } }),
    );
    expect(said(ours)).toStrictEqual([]);
  });

  test("refuses a foreign node, which is never overwritten (S0.2, S1.7(5))", () => {
    const foreign = machines({}).map(
      ({ node }): View => ({ node, tries: 3, state: { kind: "foreign", why: "another PKI" } }),
    );
    expect(said(foreign)).toContainEqual(expect.stringMatching(/^failed SLU-T109 cp-1: .*another PKI$/));
  });
});

describe("the observation of Preflight", () => {
  const answers = machines({ install: { disk: "/dev/vda" } });
  const started = async () => {
    const [clock, feed, stop] = [new SteppedClock(), new Feed<Look>(), new AbortController()];
    const looks = watchMachines(inputs(), stop.signal, clock, (signal) => feed.observe(signal));
    const seen: boolean[] = [];
    const done = (async () => {
      for await (const { isLate } of looks) seen.push(isLate);
    })();
    await settled();
    return { clock, feed, seen, done, stop };
  };

  test("S1.7(1) gives an unreachable machine some time after the first fault of another", async () => {
    const { clock, feed, seen, done, stop } = await started();
    feed.say(look(silent).filter(({ node }) => node.name === "ghost"));
    await clock.advance(100_000);
    feed.say(answers);
    await clock.advance(19_999);
    expect(seen).toEqual([false, false]);
    await clock.advance(1);
    expect(seen).toEqual([false, false, true]);
    stop.abort();
    await done;
    expect(clock.pending).toBe(0);
  });
});

test("the evidence of Preflight in a few words", () => {
  expect(preflight.words({ machines: { "cp-1": "uuid", "w-1": "other" } })).toBe("2 machines, identities verified");
});
