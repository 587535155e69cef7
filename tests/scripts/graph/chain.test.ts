import { describe, expect, test } from "@jest/globals";
import { chainOf } from "../../../scripts/graph/chain.ts";
import type { GraphResource } from "../../../scripts/graph/programGraph.ts";

const [secrets, network, guard] = ["talos:machine/secrets:Secrets s", "hcloud:index/network:Network net", "m:Guard g"];
const servers = ["a", "b"].map((node) => `hcloud:index/server:Server x-${node}`);
const preflight = "pulumi-nodejs:dynamic/gates:Preflight x-preflight";
const etcd = "pulumi-nodejs:dynamic/gates:Etcd x-etcd";

function resource(title: string, dependencies: readonly string[] = [], parent?: string): GraphResource {
  const [type = "", name = ""] = title.split(" ");
  const deadlineSeconds = type.includes("gates:") ? 60 : undefined;
  return { type, name, isComponent: type.startsWith("sluice:"), parent, dependencies, deadlineSeconds };
}

/** What every item is, in one line. */
function lines(resources: readonly GraphResource[], nodes: readonly string[] = ["a", "b"]) {
  return chainOf(resources, nodes).map(({ items, links, gates }) => ({
    items: items.map(({ title, kinds, nodes, layer, role }) =>
      [layer, title, ...kinds.map((kind) => `(${kind})`), ...nodes, role].join(" "),
    ),
    links,
    gates: gates.map(({ name, deadlineSeconds }) => `${name} ${deadlineSeconds}`),
  }));
}

describe("the chain of a graph", () => {
  test("has a stage between every two gates, with what only waits for the gates before it", () => {
    const graph = [
      resource(secrets),
      resource(preflight, [secrets]),
      resource("t:Bootstrap x", [secrets], "sluice:talos:Boot x"),
      resource("sluice:talos:Boot x", [preflight]),
      resource(etcd, ["t:Bootstrap x", preflight]),
      resource("pulumi-nodejs:dynamic/gates:TalosServices x", [etcd]),
      resource("k:Late x", [etcd]),
    ];
    expect(lines(graph)).toEqual([
      { items: ["0 secrets proven"], links: [], gates: ["Preflight 60"] },
      { items: ["0 boot (bootstrap) proven"], links: [], gates: ["Etcd 60"] },
      { items: ["0 late unproven"], links: [], gates: ["TalosServices 60"] },
    ]);
  });

  test("draws a component as one item, and its machines as one for each node", () => {
    const machines = "sluice:machines:HetznerMachines x";
    const graph = [
      resource(machines),
      resource(network, [], machines),
      resource("hcloud:index/firewall:Firewall one", [], machines),
      resource("hcloud:index/firewall:Firewall two", [], machines),
      ...servers.map((title) => resource(title, [network, guard], machines)),
      resource("hcloud:index/target:Target x", servers, machines),
      resource(guard),
      resource(preflight, [...servers, "hcloud:index/target:Target x"]),
    ];
    expect(lines(graph)).toEqual([
      {
        items: [
          "0 hetzner machines (network) (2 × firewall) proven",
          "1 server a b proven",
          "2 hetzner machines (target) proven",
          "0 guard proven",
        ],
        links: [
          [0, 1],
          [3, 1],
          [1, 2],
        ],
        gates: ["Preflight 60"],
      },
    ]);
  });

  test.each<[string, GraphResource[], string[], unknown]>([
    ["a machine alone is no row of nodes", [resource(servers[0] ?? "")], ["0 server unproven"], []],
    [
      "a component without resources creates nothing",
      [resource("sluice:talos:Talosconfig x")],
      ["0 talosconfig computed"],
      [],
    ],
    [
      "a component of one resource of the same name is named once",
      [resource("sluice:talos:Kubeconfig x"), resource("t:Kubeconfig x", [], "sluice:talos:Kubeconfig x")],
      ["0 kubeconfig unproven"],
      [],
    ],
    [
      "a link that follows from others is left out",
      [resource("a:A x"), resource("a:B x", ["a:A x"]), resource("a:C x", ["a:A x", "a:B x"])],
      ["0 a unproven", "1 b unproven", "2 c unproven"],
      [
        [0, 1],
        [1, 2],
      ],
    ],
    [
      "an item is right above what waits for it, or right below what it waits for",
      [
        resource("a:A x"),
        resource("a:B x", ["a:A x"]),
        resource("a:Late x"),
        resource("a:C x", ["a:B x", "a:Late x"]),
        resource("a:Leaf x", ["a:A x"]),
      ],
      ["0 a unproven", "1 b unproven", "1 late unproven", "2 c unproven", "1 leaf unproven"],
      [
        [0, 1],
        [1, 3],
        [2, 3],
        [0, 4],
      ],
    ],
  ])("%s", (_, graph, items, links) => {
    expect(lines(graph)).toEqual([{ items, links, gates: [] }]);
  });
});
