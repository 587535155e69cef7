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
  test("S3.3 opens while nodes cannot be Ready yet, with the machines as evidence [C3]", () => {
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

  test("U3 opens despite an unexpected node, as an autoscaler makes them, and names it", () => {
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
      expect.stringMatching(/^in the cluster, but not in this environment: cp-1 \(SLU-K104: .*Find out where/),
    ]);
  });

  test("names every node that has not joined", () => {
    expect(judge([{ name: "w-1" }, { name: "w-8" }, { name: "w-9" }])).toMatchObject([
      { where: "w-8" },
      { where: "w-9" },
    ]);
  });

  test("opens if each node is the expected machine, however its firmware spells the UUID [C34]", () => {
    const expected = nodes.map((name) => ({ name, uuid: uuidOf(name).toUpperCase(), providerId: providerOf(name) }));
    expect(judge(expected)).toEqual([]);
  });

  test.each([
    ["machine UUID", { uuid: uuidOf("w-2") }, uuidOf("w-1"), uuidOf("w-2")],
    ["provider id", { providerId: "hcloud://1" }, providerOf("w-1"), "hcloud://1"],
  ])("fails at once if a node is another machine, by its %s", (what, identity, has, wants) => {
    expect(judge([{ name: "w-1", ...identity }])).toEqual([
      {
        kind: "failed",
        where: "w-1",
        reason: `is another machine: its ${what} is ${has}, not ${wants}`,
        code: "SLU-K104",
      },
    ]);
  });

  test("does not wait for what the cloud controller sets later", () => {
    const early = healthy.map((node) => ({ ...node, spec: {} }));
    expect(judge([{ name: "w-1", providerId: "hcloud://1" }], early)).toEqual([]);
  });
});

test("the evidence of NodesJoined in a few words", () => {
  expect(nodesJoined.words({ machines: { "cp-1": "uuid", "w-1": "other" } })).toBe("2 nodes, identities verified");
});
