import { describe, expect, test } from "@jest/globals";
import type { DeployedNode } from "../../../scripts/inspect/deployed.ts";
import { askDeadlineSeconds, lookAtNodes } from "../../../scripts/inspect/lookAtNodes.ts";
import { config, credentials, FakeWorld } from "../../components/talos/fakeNodes.ts";

/** Nodes are reached by their names here. */
const deployed = (name: string, role: DeployedNode["role"]): DeployedNode => ({
  ...{ name, role, talosAddress: name, address: name, credentials },
  machineConfiguration: config({}, role),
});
const nodes = [deployed("cp-1", "controlplane"), deployed("w-1", "worker")];
const allReady = async () => ({ "cp-1": true, "w-1": true });

function cluster(): FakeWorld {
  const world = new FakeWorld();
  world.addControlPlanes(["cp-1"]);
  world.add("w-1").runs(config({}, "worker"));
  return world;
}

describe("what status finds of nodes (S6.3)", () => {
  test("is for each whether it is reachable, its stage, version, schematic, config, etcd role and readiness", async () => {
    expect(await lookAtNodes(nodes, allReady, cluster())).toEqual([
      {
        ...{ name: "cp-1", role: "controlplane", reachable: "yes", stage: "running", version: "1.13.8" },
        ...{ schematic: "the-schematic", config: "in sync", etcd: "voter", ready: "yes", remarks: [] },
      },
      {
        ...{ name: "w-1", role: "worker", reachable: "yes", stage: "running", version: "1.13.8" },
        ...{ schematic: "the-schematic", config: "in sync", etcd: "", ready: "yes", remarks: [] },
      },
    ]);
  });

  test.each<[string, (world: FakeWorld) => void, object]>([
    [
      "does not answer",
      (world) => Object.assign(world.node("w-1"), { kind: "unreachable" }),
      { reachable: "no", remarks: ["does not answer at w-1: no answer"] },
    ],
    [
      "belongs to another cluster",
      (world) => Object.assign(world.node("w-1"), { kind: "foreign" }),
      { reachable: "no", remarks: ["its certificate is of others"] },
    ],
    [
      "is in maintenance",
      (world) => Object.assign(world.node("w-1"), { kind: "maintenance" }),
      { reachable: "yes", stage: "maintenance", config: "", remarks: ["is in maintenance, without its config"] },
    ],
    [
      "runs another config",
      (world) => void world.node("w-1").runs(config({ sysctls: { a: "1" } })),
      { config: "differs", remarks: ["machine config: machine.sysctls.a is 1, and should not be there"] },
    ],
  ])("says of a node that it %s", async (_, change, expected) => {
    const world = cluster();
    change(world);
    const [, worker] = await lookAtNodes(nodes, allReady, world);
    expect(worker).toMatchObject(expected);
  });

  test("says of a control plane that it is no member", async () => {
    const world = cluster();
    world.node("cp-1").members = ["cp-2"];
    expect((await lookAtNodes(nodes, allReady, world))[0]).toMatchObject({ etcd: "none" });
  });

  test("has the rest where one question is not answered", async () => {
    const world = cluster();
    world.node("cp-1").fail("etcdMembers", () => {
      throw new Error("etcd is not running");
    });
    const [first] = await lookAtNodes(nodes, allReady, world);
    expect(first).toMatchObject({ config: "in sync", etcd: "", remarks: ["etcd: etcd is not running"] });
  });

  test("ends in time where nothing answers, neither nodes nor the Kubernetes API", async () => {
    const world = cluster();
    const never = new Promise<never>(() => undefined);
    const access = { ...world.access, probe: () => never };
    const reports = await lookAtNodes(nodes, () => never, { access, clock: world.clock });
    const late = `no answer within ${askDeadlineSeconds} s`;
    for (const report of reports) {
      expect(report).toMatchObject({
        reachable: "no",
        ready: "",
        remarks: [`does not answer: ${late}`, `Kubernetes: ${late}`],
      });
    }
    expect(world.clock.now()).toBe(askDeadlineSeconds * 1000);
  });

  test("says where Kubernetes has no Node, and which is not Ready", async () => {
    const reports = await lookAtNodes(nodes, async () => ({ "cp-1": false }), cluster());
    expect(reports.map(({ ready, remarks }) => [ready, remarks])).toEqual([
      ["no", []],
      ["", ["Kubernetes: has no Node of this name"]],
    ]);
  });
});
