import { describe, expect, test } from "@jest/globals";
import { type ExpectedNode, nodesJoined } from "../../../components/gates/nodesJoined.ts";
import type { KubernetesNode } from "../../../components/kubernetes/objects.ts";
import { credentials, look, nodes, recordedNodes, verdicts } from "./kubernetesLooks.ts";

const { healthy, withoutNetwork } = recordedNodes();
const uuidOf = (name: string) =>
  healthy.find(({ metadata }) => metadata.name === name)?.status?.nodeInfo?.systemUUID ?? "";
const providerOf = (name: string) => healthy.find(({ metadata }) => metadata.name === name)?.spec?.providerID ?? "";
const expecting = (names: readonly string[]) => ({ credentials, nodes: names.map((name) => ({ name })) });
const judge = (expected: readonly ExpectedNode[], seen: readonly KubernetesNode[] = healthy) =>
  verdicts(nodesJoined.conditions({ credentials, nodes: expected }), look({ nodes: seen }));

describe("S3.2 the gate NodesJoined", () => {
  test("S3.3 opens while nodes cannot be Ready yet, and says which machines it saw", () => {
    expect(
      judge(
        nodes.map((name) => ({ name })),
        withoutNetwork,
      ),
    ).toEqual([]);
    expect(nodesJoined.evidence(look({ nodes: withoutNetwork }), expecting(nodes))).toEqual({
      machines: Object.fromEntries(nodes.map((name) => [name, uuidOf(name)])),
      strangers: [],
    });
    expect(nodesJoined.remarks?.(look({ nodes: withoutNetwork }), expecting(nodes))).toEqual([]);
  });

  test("U3 opens where there is a node that nobody asked for, as an autoscaler makes them, and names it", () => {
    const [, ...others] = nodes;
    const seen = look({ nodes: healthy });
    expect(
      judge(
        others.map((name) => ({ name })),
        healthy,
      ),
    ).toEqual([]);
    expect(nodesJoined.evidence(seen, expecting(others))).toEqual({
      machines: Object.fromEntries(others.map((name) => [name, uuidOf(name)])),
      strangers: ["cp-1"],
    });
    expect(nodesJoined.remarks?.(seen, expecting(others))).toEqual([
      expect.stringMatching(/^not of this environment, but in the cluster: cp-1 \(SLU-K104: .*find out where/),
    ]);
  });

  test("names every node that has not joined", () => {
    expect(judge([{ name: "w-1" }, { name: "w-8" }, { name: "w-9" }])).toMatchObject([
      { where: "w-8" },
      { where: "w-9" },
    ]);
  });

  test("opens where each node is the machine that is meant, however its firmware spells the UUID", () => {
    const expected = nodes.map((name) => ({ name, uuid: uuidOf(name).toUpperCase(), providerId: providerOf(name) }));
    expect(judge(expected)).toEqual([]);
  });

  test.each([
    ["machine UUID", { uuid: uuidOf("w-2") }, uuidOf("w-1"), uuidOf("w-2")],
    ["provider id", { providerId: "hcloud://1" }, providerOf("w-1"), "hcloud://1"],
  ])("fails at once where a node is another machine, by its %s", (what, identity, has, wants) => {
    expect(judge([{ name: "w-1", ...identity }])).toEqual([
      {
        kind: "failed",
        where: "w-1",
        reason: `is another machine: its ${what} is ${has}, not ${wants}`,
        code: "SLU-K104",
      },
    ]);
  });

  test("waits no longer for what the cloud's controller tells only later", () => {
    const early = healthy.map((node) => ({ ...node, spec: {} }));
    expect(judge([{ name: "w-1", providerId: "hcloud://1" }], early)).toEqual([]);
  });
});
