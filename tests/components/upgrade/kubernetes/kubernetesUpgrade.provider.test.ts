import { describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import {
  type KubernetesUpgradeInputs,
  operations,
} from "../../../../components/upgrade/kubernetes/kubernetesUpgrade.provider.ts";
import { credentials } from "../../talos/fakeNodes.ts";
import { FakeKubernetes, imagesOf } from "./fakeKubernetes.ts";

const world = new FakeKubernetes("1.35.4", ["cp-1", "w-1", "w-10", "w-2"]);
const inputs = (version: string, changes: Partial<KubernetesUpgradeInputs> = {}): KubernetesUpgradeInputs => ({
  // As the engine passes them.
  nodes: Object.fromEntries(
    world
      .upgradeNodes()
      .map((node) => [node.name, { ...node, images: imagesOf(node.role, version) }] as const)
      .sort(([one], [other]) => one.localeCompare(other)),
  ),
  version,
  credentials,
  parallel: 1,
  acceptRemovedApis: [],
  limits: { pullSeconds: 60, nodeSeconds: 60, stableSeconds: 0 },
  row: "the urn",
  ...changes,
});
const state = { ...inputs("1.35.4"), seconds: { "cp-1": 60, "w-1": 20 } };
const without = (name: string) => {
  const { [name]: _, ...nodes } = inputs("1.35.4").nodes;
  return nodes;
};
const inMaintenance = () => {
  const empty = new FakeKubernetes("1.35.4", ["cp-1", "w-1", "w-10", "w-2"]);
  for (const node of empty.nodes.values()) node.kind = "maintenance";
  return empty;
};

describe("S8.3 the Kubernetes version of a cluster", () => {
  test.each([
    ["none if nothing changed", {}, "none"],
    ["an update for another version", inputs("1.36.1"), "update"],
    ["a record for a node that left", { nodes: without("w-1") }, "record"],
    ["a record for other credentials", { credentials: { ...credentials, crt: "another" } }, "record"],
    ["none for other limits", { limits: { pullSeconds: 1, nodeSeconds: 1, stableSeconds: 1 } }, "none"],
    ["none while the nodes are unknown", { nodes: unknownValue as never }, "none"],
  ])("differs in what would change nodes: it is %s", (_what, changes, kind) => {
    expect(operations.difference(state, { ...inputs("1.35.4"), ...changes })).toEqual({ kind });
  });

  test("has a preview with the nodes in their order, and whether a backup is taken", () => {
    const notes = operations.notes(state, inputs("1.36.1")).map(({ text }) => text);
    expect(notes[0]).toContain("kubelets restart: cp-1, then w-1, then w-2, w-10");
    expect(notes[0]).toContain("about 2 min, as long as the last time");
    expect(notes[1]).toMatch(/^no backup is taken before that/);
    expect(operations.notes(state, inputs("1.35.4"))).toEqual([]);
  });

  test("does nothing when it is created for nodes that run it, have no config yet, or do not answer", async () => {
    expect(await operations.create(inputs("1.35.4"), world)).toEqual({ ...inputs("1.35.4"), seconds: {} });
    const empty = inMaintenance();
    expect(await operations.create(inputs("1.36.1"), empty)).toMatchObject({ version: "1.36.1", seconds: {} });
    expect([...empty.nodes.values()].flatMap(({ calls }) => calls)).toEqual([]);
    for (const node of empty.nodes.values()) node.kind = "unreachable";
    const began = empty.clock.now();
    expect(await operations.create(inputs("1.36.1"), empty)).toMatchObject({ version: "1.36.1", seconds: {} });
    expect(empty.clock.now() - began).toBeLessThan(10_000);
  });

  test("keeps how long nodes took, but not of those that are gone", async () => {
    const { nodes } = inputs("1.35.4");
    const { "w-1": _, ...rest } = nodes;
    expect((await operations.update(state, inputs("1.36.1", { nodes: rest }), inMaintenance())).seconds).toEqual({
      "cp-1": 60,
    });
  });

  test("U2 has a preview where no node answers, within seconds", async () => {
    const silent = new FakeKubernetes("1.35.4", ["cp-1", "w-1", "w-10", "w-2"]);
    for (const node of silent.nodes.values()) node.kind = "unreachable";
    const began = silent.clock.now();
    expect(await operations.lookAhead(state, inputs("1.36.1"), silent)).toEqual([
      { text: "the nodes were not asked: `up` checks whether they can be upgraded", as: "info" },
    ]);
    expect(silent.clock.now() - began).toBeLessThan(10_000);
    expect(silent.said).toEqual([]);
  });

  test("U2 has a preview with why the upgrade would be refused, where nodes answer", async () => {
    const notes = await operations.lookAhead(state, inputs("1.37.1"), world);
    expect(notes).toEqual([{ text: expect.stringMatching(/would be refused now: .*SLU-T214/s), as: "warning" }]);
  });
});
