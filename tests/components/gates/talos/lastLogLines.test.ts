import { describe, expect, test } from "@jest/globals";
import { gateFailure } from "../../../../components/gates/gateFailure.ts";
import { readLogs } from "../../../../components/gates/talos/lastLogLines.ts";
import type { GateNode } from "../../../../components/gates/talos/nodeView.ts";
import type { Unmet } from "../../../../components/waiting/history.ts";
import { credentials, FakeWorld } from "../../talos/fakeNodes.ts";

const node = (name: string): GateNode => ({ name, role: "worker", talosAddress: name, address: name });
const unmet = (where: string, log?: string): Unmet => ({
  phrase: "all Talos services to be healthy on every node",
  verdict: { kind: "pending", where, reason: "kubelet is Failed", ...(log !== undefined && { log }) },
  seconds: 8,
});

describe("the last lines of the log of what is unmet (S6.3)", () => {
  const read = (world: FakeWorld, all: readonly Unmet[]) =>
    readLogs(all, { nodes: [...world.nodes.keys()].map(node), credentials }, world.clock, world.access);

  test("are in the gate's failure, masked, below what was seen", async () => {
    const world = new FakeWorld();
    world.add("w-1").runs("").log = ["cannot mount /var/lib/data", "token=geheim"];
    const all = [unmet("w-1", "kubelet")];
    const end = { kind: "timeout", unmet: all, hasObserved: true, seconds: 8 } as const;
    const logs = await read(world, all);
    const { message } = gateFailure({ name: "TalosServices", timeoutCode: "SLU-T331" }, end, 0, { logs });
    expect(message.split("\n").slice(1, 6)).toEqual([
      "  expected:   all Talos services to be healthy on every node",
      "  seen:       w-1: kubelet is Failed (for 8 s)",
      "  log:        w-1, kubelet:",
      "                cannot mount /var/lib/data",
      "                token=(masked)",
    ]);
  });

  test("are read of three nodes at most, and only where a log says more", async () => {
    const world = new FakeWorld();
    const names = ["w-1", "w-2", "w-3", "w-4", "w-5"];
    for (const name of names) world.add(name).runs("").log = ["line"];
    const all = [unmet("w-1"), ...names.slice(1).map((name) => unmet(name, "machined"))];
    expect([...(await read(world, all)).keys()].map(({ verdict }) => verdict.where)).toEqual(["w-2", "w-3", "w-4"]);
  });

  test("are those that Talos wrote about a service which has no log, because it could not be started", async () => {
    const world = new FakeWorld();
    world.add("w-1");
    const talos = ["service[kubelet](Failed): cannot mount", "task startAllServices: starting"];
    const logLines = async (id: string) => {
      if (id === "machined") return talos;
      throw new Error(`log "${id}" was not registered`);
    };
    const access = { configured: () => ({ ...world.node("w-1").client("ours"), logLines }) };
    const logs = await readLogs([unmet("w-1", "kubelet")], { nodes: [node("w-1")], credentials }, world.clock, access);
    expect([...logs.values()]).toEqual(["w-1, machined:\n  service[kubelet](Failed): cannot mount"]);
  });

  test("are left out where the node does not answer in time", async () => {
    const world = new FakeWorld();
    world.add("w-1");
    const silent = {
      configured: () => ({ ...world.node("w-1").client("ours"), logLines: () => new Promise<never>(() => undefined) }),
    };
    const logs = await readLogs([unmet("w-1", "kubelet")], { nodes: [node("w-1")], credentials }, world.clock, silent);
    expect(logs.size).toBe(0);
  });
});
