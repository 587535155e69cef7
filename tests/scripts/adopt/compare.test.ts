// What `npm run adopt` finds, and what it suggests. All of it is pure.
import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { clusterFaults } from "../../../scripts/adopt/clusterFaults.ts";
import { configDifferences } from "../../../scripts/adopt/compareNodes.ts";
import { keepingPatches } from "../../../scripts/adopt/keepingPatches.ts";
import type { ClusterLook, ExpectedNode, RunningNode } from "../../../scripts/adopt/lookAtCluster.ts";
import { noReleases } from "../../../scripts/adopt/releaseFindings.ts";
import { type Comparison, reportOf } from "../../../scripts/adopt/report.ts";

const config = (machine: object, cluster: object = {}, ...others: readonly object[]) =>
  [{ version: "v1alpha1", machine, cluster }, ...others].map((document) => stringify(document)).join("---\n");

const running = (name: string, text: string, more: Partial<RunningNode> = {}): RunningNode => ({
  kind: "runs",
  name,
  role: name.startsWith("cp") ? "controlplane" : "worker",
  version: "1.13.8",
  schematic: "",
  stage: "running",
  config: text,
  persistent: text,
  hostname: name,
  identityFaults: [],
  uuid: "",
  addresses: [],
  image: { extensions: [], schematicText: "" },
  ...more,
});

describe("the differences between what runs and what an up would send (S7.2)", () => {
  const sysctl = (value: string) => ({ sysctls: { a: value } });

  test("name each once, with its nodes, the reboot, and the key that decides about it", () => {
    const wanted = config({ ...sysctl("1"), udev: { rules: ["x"] } }, { network: { podSubnets: ["10.244.0.0/16"] } });
    const runs = config(sysctl("2"), { network: { podSubnets: ["10.42.0.0/16"] } });
    const differences = configDifferences([running("cp-1", runs), running("w-1", runs)], {
      "cp-1": wanted,
      "w-1": wanted,
    });
    expect(differences).toEqual([
      { nodes: ["cp-1", "w-1"], text: "~ machine.sysctls.a: 2 -> 1", reboots: false, key: undefined },
      { nodes: ["cp-1", "w-1"], text: '+ machine.udev.rules: ["x"]', reboots: true, key: undefined },
      {
        nodes: ["cp-1", "w-1"],
        text: "~ cluster.network.podSubnets.0: 10.42.0.0/16 -> 10.244.0.0/16",
        reboots: false,
        key: "use network.podCidr",
      },
    ]);
  });

  test("are none if both mean the same, and report a config that waits for the next boot", () => {
    const runs = config(sysctl("1"));
    const node = running("w-1", runs, { persistent: config(sysctl("2")) });
    expect(configDifferences([running("w-1", runs)], { "w-1": runs })).toEqual([]);
    expect(configDifferences([node], { "w-1": runs })).toEqual([
      expect.objectContaining({ text: "another config waits for its next boot, which differs in machine.sysctls.a" }),
    ]);
  });

  test("have a Talos that is not the wanted one", () => {
    const wanted = config({ install: { image: "ghcr.io/siderolabs/installer:v1.13.9" } });
    expect(configDifferences([running("w-1", wanted)], { "w-1": wanted })).toEqual([
      { nodes: ["w-1"], text: "runs Talos 1.13.8, not 1.13.9", reboots: true, key: "use talosVersion and image" },
    ]);
  });

  test("never show a secret", () => {
    const [wanted, runs] = ["SECRET one", "SECRET two"].map((token) => config({ token })) as [string, string];
    expect(JSON.stringify(configDifferences([running("w-1", runs)], { "w-1": wanted }))).not.toContain("SECRET");
  });
});

describe("the patches that keep what runs (S7.2)", () => {
  const nodes = (configs: Readonly<Record<string, string>>) =>
    Object.entries(configs).map(([name, text]) => running(name, text));

  test("are one entry for the same nodes, with a role where that is enough", () => {
    const wanted = config({ kubelet: { nodeIP: { validSubnets: ["a"] } } }, { etcd: { advertisedSubnets: ["a"] } });
    const worker = config({ kubelet: { nodeIP: { validSubnets: ["a"] } } });
    const runs = {
      "cp-1": config({ sysctls: { a: "1" } }),
      "cp-2": config({ sysctls: { a: "1" } }),
      "w-1": config({ sysctls: { a: "1", b: "1" } }),
    };
    const { patches, secretPatches } = keepingPatches(nodes(runs), { "cp-1": wanted, "cp-2": wanted, "w-1": worker });
    expect(secretPatches).toEqual([]);
    expect(patches).toEqual([
      {
        name: "keep-own-1",
        nodes: ["cp-1", "cp-2", "w-1"],
        patch: { machine: { kubelet: { nodeIP: { $patch: "delete" } } } },
      },
      {
        name: "keep-own-2",
        nodes: ["cp-1", "cp-2"],
        patch: { cluster: { etcd: { advertisedSubnets: { $patch: "delete" } } } },
      },
      { name: "keep-all-3", patch: { machine: { sysctls: { a: "1" } } } },
      { name: "keep-worker-4", role: "worker", patch: { machine: { sysctls: { b: "1" } } } },
    ]);
  });

  test("are for these nodes only where they replace what Sluice writes, so that later nodes get that", () => {
    const [wanted, runs] = [config({ list: ["a"] }), config({ list: ["b"] })];
    const { patches } = keepingPatches(nodes({ "w-1": runs }), { "w-1": wanted });
    expect(patches).toEqual([
      { name: "keep-own-1", nodes: ["w-1"], patch: { machine: { list: { $patch: "delete" } } } },
      { name: "keep-own-2", nodes: ["w-1"], patch: { machine: { list: ["b"] } } },
    ]);
  });

  test("name the nodes where a role is not enough, and never set what a key decides about", () => {
    const wanted = config({ nodeLabels: { a: "1" } });
    const runs = { "cp-1": config({}), "w-1": wanted, "w-2": config({ nodeLabels: { a: "1" }, sysctls: { a: "1" } }) };
    const { patches } = keepingPatches(nodes(runs), { "cp-1": wanted, "w-1": wanted, "w-2": wanted });
    expect(patches).toEqual([{ name: "keep-w-2-1", nodes: ["w-2"], patch: { machine: { sysctls: { a: "1" } } } }]);
  });

  test("keep those with secrets apart, which have to be encrypted", () => {
    const wanted = config({});
    const auth = { registries: { config: { "a.example": { auth: { password: "SECRET" } } } }, sysctls: { a: "1" } };
    const { patches, secretPatches } = keepingPatches(nodes({ "w-1": config(auth) }), { "w-1": wanted });
    expect(patches.map(({ patch }) => patch)).toEqual([{ machine: { sysctls: { a: "1" } } }]);
    expect(JSON.stringify(secretPatches)).toContain("SECRET");
  });
});

describe("a cluster that is not the one of the environment (S7.2)", () => {
  const expected: readonly ExpectedNode[] = (["cp-1", "w-1"] as const).map((name, place) => ({
    name,
    role: place === 0 ? "controlplane" : "worker",
    address: `10.0.0.1${place}`,
    talosAddress: `10.0.0.1${place}`,
    identity: {},
  }));
  const member = { id: "1", name: "cp-1", peerUrls: ["https://10.0.0.10:2380"], learner: false };
  const cp1 = running("cp-1", "", { etcd: { isThere: true, members: [member] } });
  const nodeNamed = (name: string) => ({ metadata: { name } });
  const kubernetes = { nodes: ["cp-1", "w-1"].map(nodeNamed), releases: [], objects: {} };
  const look: ClusterLook = { nodes: [cp1, running("w-1", "")], kubernetes };
  const seen = (change: Partial<ClusterLook>) =>
    clusterFaults(expected, { ...look, ...change }).map(({ where, seen: one }) => `${where}: ${one}`);

  test("is not refused if it is that cluster", () => {
    expect(seen({})).toEqual([]);
  });

  test.each<[string, Partial<ClusterLook>, string]>([
    [
      "a node of another cluster",
      { nodes: [cp1, { kind: "refused", name: "w-1", why: "its certificate is of others", isForeign: true }] },
      "w-1: its certificate is of others",
    ],
    [
      "a node that calls itself otherwise",
      { nodes: [cp1, running("w-1", "", { hostname: "talos-abc" })] },
      "w-1: the node calls itself talos-abc",
    ],
    [
      "another machine",
      { nodes: [cp1, running("w-1", "", { identityFaults: ["its UUID is another"] })] },
      "w-1: its UUID is another",
    ],
    [
      "no etcd",
      { nodes: [running("cp-1", "", { etcd: { isThere: false, members: [] } }), running("w-1", "")] },
      "etcd: no control plane has an etcd",
    ],
    [
      "a member that is not listed",
      {
        nodes: [
          running("cp-1", "", {
            etcd: {
              isThere: true,
              members: [member, { ...member, name: "cp-9", peerUrls: ["https://10.0.0.19:2380"] }],
            },
          }),
          running("w-1", ""),
        ],
      },
      "etcd: the member cp-9 at https://10.0.0.19:2380 is no control plane of the environment",
    ],
    [
      "a control plane that is no member",
      {
        nodes: [
          running("cp-1", "", {
            etcd: { isThere: true, members: [{ ...member, peerUrls: ["https://1.2.3.4:2380"] }] },
          }),
          running("w-1", ""),
        ],
      },
      "etcd: cp-1 is no member at 10.0.0.10",
    ],
    [
      "a Node that is not listed",
      { kubernetes: { ...kubernetes, nodes: ["cp-1", "w-1", "w-2"].map(nodeNamed) } },
      "Kubernetes: the Node w-2 is not in the environment",
    ],
    [
      "a node without a Node",
      { kubernetes: { ...kubernetes, nodes: [nodeNamed("cp-1")] } },
      "Kubernetes: there is no Node w-1",
    ],
    [
      "an API that does not answer",
      { kubernetes: "cp-1: refused" },
      "Kubernetes: the API does not answer: cp-1: refused",
    ],
  ])("is refused for %s", (_, change, fault) => {
    expect(seen(change)).toContain(fault);
  });
});

describe("the report of an adoption (S7.2)", () => {
  const comparison: Comparison = {
    nodes: [running("w-1", "")],
    faults: [],
    configs: [
      { nodes: ["w-1"], text: "~ machine.a: 1 -> 2", reboots: true, key: undefined },
      { nodes: ["w-1"], text: "~ machine.b: 1 -> 2", reboots: false, key: undefined },
      { nodes: ["w-1"], text: "~ machine.install.image: a -> b", reboots: false, key: "use image" },
    ],
    left: [{ nodes: ["w-1"], text: "~ machine.b: 1 -> 2", reboots: false, key: undefined }],
    suggested: {
      patches: [{ name: "keep-all-1", patch: { machine: { a: 1 } } }],
      secretPatches: [{ name: "keep-all-2", patch: { machine: { token: "SECRET" } } }],
    },
    releases: noReleases,
    notes: [],
  };

  test("lists every difference with what keeps it, and nothing secret", () => {
    const text = reportOf("mine", comparison, { accepts: false }).join("\n");
    expect(text).toMatch(/^mine: 1 node, 0 obstacles, 3 differences\n/);
    expect(text).toContain("  w-1: ~ machine.a: 1 -> 2  [reboot]\n    to keep it: the patches below\n");
    expect(text).toContain("  w-1: ~ machine.b: 1 -> 2\n    to keep it: no key and no patch does\n");
    expect(text).toContain("  w-1: ~ machine.install.image: a -> b\n    to keep it: use image\n");
    expect(text).toContain("    - name: keep-all-1\n      patch:\n        machine:\n          a: 1\n");
    expect(text).not.toContain("SECRET");
    expect(text).toMatch(/Nothing was adopted\. With --accept/);
  });

  test("suggests no --accept where an obstacle is, and says nothing of it where it was given", () => {
    const fault = { where: "w-1", seen: "is off", remedy: "turn it on" };
    const obstructed = reportOf("mine", { ...comparison, faults: [fault] }, { accepts: true }).join("\n");
    expect(obstructed).toMatch(/w-1: is off\n {4}what to do: turn it on\n[\s\S]*\nNothing was adopted\.$/);
    expect(reportOf("mine", comparison, { accepts: true }).join("\n")).not.toContain("Nothing was adopted");
  });
});
