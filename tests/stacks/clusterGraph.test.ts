// The order of the chain, as the engine receives it: with any configuration no stage can start while the gate before it is closed.
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { type MockOptions, type Recording, record, title } from "../support/mocks.ts";
import { platformMocks } from "../support/platformMocks.ts";
import { proxmoxApiToken } from "../support/proxmoxMocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";
import { clientConfig, generator, talosMocks } from "../support/talosMocks.ts";
import { bootstrap, chainOf, gate, ground, quorumGuard } from "./clusterChain.ts";
import { type Graph, type GraphResource, graphFaults, type Link } from "./clusterGraphFaults.ts";

const flux = { url: "https://git.example.org/home.git" };
const off = { enabled: false };
const [vip, mac] = ["10.0.0.20", "02:00:00:00:00:0b"];
const node = (name: string, role: string, address: string) => ({ name, role, address });
const six = [1, 2, 3].flatMap((n) => [
  node(`cp-${n}`, "controlplane", `10.0.1.1${n}`),
  node(`w-${n}`, "worker", `10.0.1.2${n}`),
]);

const ageRecipients = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"];
const scheduled = {
  ageRecipients,
  backup: { schedule: "@daily", s3: { endpoint: "https://s3.example.org", bucket: "backups" } },
  ...{ backupS3AccessKey: "the access key", backupS3SecretKey: "the secret key" },
};

const configurations: readonly (readonly [string, Readonly<Record<string, unknown>>, Base?])[] = [
  ["the worked example and Flux", { flux }],
  ["one node", { flux, nodes: [node("cp-1", "controlplane", "10.0.1.11")] }],
  ["three control planes and three workers", { flux, nodes: six }],
  ["one node after the other", { flux, apply: { parallel: 1 } }],
  ["no cloud controller", { flux, "hetzner.cloudControllerManager": off }],
  ["no volumes", { flux, csi: off }],
  ["no cloud controller and no volumes", { flux, csi: off, "hetzner.cloudControllerManager": off }],
  ["no sealed secrets", { flux, sealedSecrets: off }],
  ["nothing but Cilium", { csi: off, sealedSecrets: off, "hetzner.cloudControllerManager": off }],
  ["a snapshot that is made where there is none", { flux, "hetzner.snapshot": { build: true } }],
  ["no load balancer", { flux, "hetzner.loadBalancer": undefined, endpoint: "api.example.org" }],
  ["a load balancer that serves the world", { flux, "hetzner.loadBalancer": { address: "10.0.1.5", public: true } }],
  ["existing machines", { flux }, "existing"],
  ["addresses for Services", { services: { announce: "cilium", addresses: ["10.0.0.128/28"] } }, "existing"],
  ["a VIP that Talos brings up", { flux, "nodes[0].mac": mac, "network.vip": vip }, "existing"],
  ["a VIP that kube-vip brings up", { flux, "network.vip": vip, "network.vipBy": "kube-vip" }, "existing"],
  ["machines that are reached by other addresses", { "nodes[0].reach": "cp.example.org" }, "existing"],
  ["VMs at home with their addresses in their images", { flux }, "home"],
  ["VMs at home with their addresses by DHCP", { flux, "network.addressing": "dhcp" }, "home"],
  ["backups on request", { flux, ageRecipients, backup: { folder: "/srv/backups" } }],
  ["backups on request and not before changes", { ageRecipients, backup: { folder: "/b", beforeChanges: false } }],
  ["backups that the cluster takes", { flux, ...scheduled }],
  ["a cluster that begins with a backup", { flux, restoreFrom: "./a-backup" }],
  ["VMs at home that read a seed", { flux, "network.addressing": "nocloud", "proxmox.hosts": ["a", "b", "c"] }, "home"],
];

const configOf = (changes: Readonly<Record<string, unknown>>, base: Base = "cloud") =>
  parseClusterConfig(Object.entries(changes).reduce((raw, [path, to]) => changed(raw, path, to), rawConfig(base)));

/** A first preview, in which nothing is known of new resources. */
const first: MockOptions = { ...talosMocks, preview: true, state: ({ inputs }) => inputs };

const { HCLOUD_TOKEN, PROXMOX_VE_API_TOKEN } = process.env;
beforeAll(() => {
  process.env.HCLOUD_TOKEN = "the-token";
  process.env.PROXMOX_VE_API_TOKEN = proxmoxApiToken;
});
afterAll(() => {
  for (const [name, value] of Object.entries({ HCLOUD_TOKEN, PROXMOX_VE_API_TOKEN })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

describe("the chain, with", () => {
  describe.each(configurations)("%s,", (_, changes, base) => {
    const config = configOf(changes, base);
    const deploy = () => deployCluster(config);
    let preview: Recording<unknown>;
    let update: Recording<unknown>;
    beforeAll(async () => {
      preview = await record(deploy, first);
      update = await record(deploy, platformMocks);
    });

    test("S3.1 S3.3 U1 every stage waits for the gate before it and is proven by the next, and everything in the cluster is deleted with it [C4] [C30]", () => {
      const clusterIs = `${bootstrap} ${config.clusterName}`;
      expect(graphFaults(update, chainOf(config), { ground, clusterIs })).toEqual([]);
      // The provider can do nothing in the cluster before the gate NodesJoined.
      const provider = update.resources.find(({ name }) => name === `${config.clusterName}-kubernetes`);
      expect(provider?.dependencies).toContain(`${gate("NodesJoined")} ${config.clusterName}-nodes-joined`);
    });

    test("S1.6 every gate runs again when a node has another config or machine, because its pods were restarted", () => {
      // Preflight comes before the configs, and a backup that was stored does not depend on what runs.
      const others = [gate("Preflight"), gate("BackupFresh")];
      const gates = update.resources.filter(({ type }) => type.startsWith(gate("")) && !others.includes(type));
      expect(gates.length).toBeGreaterThan(5);
      for (const { name, inputs } of gates) {
        const { triggers } = inputs as { readonly triggers: readonly string[] };
        const hashes = triggers.filter((trigger) => trigger === "the-hash");
        expect({ name, hashes: hashes.length }).toEqual({ name, hashes: config.nodes.length });
      }
    });

    test("S1.3 no machine changes before it is known that etcd keeps its quorum", () => {
      const machines = update.resources.filter(({ type }) => /server:Server$|vmLegacy:VmLegacy$/.test(type));
      const waiting = machines.filter(({ dependencies }) =>
        dependencies.includes(`${quorumGuard} ${config.clusterName}`),
      );
      expect(waiting).toEqual(machines);
      expect(machines).toHaveLength(config.platform.createsMachines ? config.nodes.length : 0);
    });

    test("U2 the first preview, in which nothing is known, has the same resources as an update", () => {
      expect(preview.resources.map(title)).toEqual(update.resources.map(title));
    });

    test("U2 no resource is created in an apply", async () => {
      expect(await madeLate(deploy)).toEqual([]);
    });

    test("U2 a preview invokes nothing, and an update only what needs no network [C27]", () => {
      expect(preview.invokes).toEqual([]);
      expect(new Set(update.invokes.map(({ token }) => token))).toEqual(new Set([clientConfig, generator]));
    });
  });
});

test.each([
  ["at Hetzner", { flux, nodes: six }, "cloud"],
  ["existing machines", { flux }, "existing"],
  ["VMs with their addresses in their images", { flux }, "home"],
  ["VMs with their addresses by DHCP", { flux, "network.addressing": "dhcp" }, "home"],
] as const)("S4.2 nothing follows from the order of the list of nodes: %s", async (_, changes, base) => {
  const raw = Object.entries(changes).reduce((one, [path, to]) => changed(one, path, to), rawConfig(base));
  const nodes = raw.nodes as unknown[];
  const [listed, reversed] = [nodes, nodes.toReversed()].map((list) => parseClusterConfig({ ...raw, nodes: list }));
  if (listed === undefined || reversed === undefined) throw new Error("there is no configuration");
  const before = await record(() => deployCluster(listed), platformMocks);
  const after = await record(() => deployCluster(reversed), platformMocks);
  expect(after.resources).toEqual(before.resources);
  expect(after.invokes).toEqual(before.invokes);
});

test("U2 a resource that is created in an apply is found, even if its value is known in a preview", async () => {
  class Thing extends pulumi.CustomResource {
    constructor(name: string) {
      super("test:things:Thing", name, {});
    }
  }
  const program = () => {
    new Thing("in time");
    pulumi.output("late").apply((name) => new Thing(name));
  };
  expect(await madeLate(program)).toEqual(["test:things:Thing late"]);
});

/** The resources that were created after the program had ended. */
async function madeLate(program: () => unknown): Promise<string[]> {
  const late: string[] = [];
  await pulumi.runtime.setMocks({
    newResource: (resource) => ({
      id: `${resource.name}-id`,
      state: resource.custom === false ? {} : (platformMocks.state?.(resource) ?? {}),
    }),
    call: (call) => platformMocks.invoke?.(call) ?? {},
  });
  let isOver = false;
  await pulumi.runtime.runInPulumiStack(async () => {
    pulumi.runtime.registerStackTransformation(({ type, name }) => {
      if (isOver) late.push(`${type} ${name}`);
      return undefined;
    });
    await program();
    isOver = true;
  });
  await pulumi.runtime.disconnect();
  return late;
}

describe("the check of the chain", () => {
  const resource = (type: string, dependencies: readonly string[] = [], parent?: string): GraphResource => ({
    type,
    name: "x",
    parent,
    dependencies,
  });
  /** Machines, a gate, a stage of a component with two parts, a gate, a stage in the cluster, a gate. */
  const good: Graph = {
    resources: [
      resource("ground"),
      resource("machines"),
      resource("server", ["ground x"], "machines x"),
      resource("Preflight", ["server x"]),
      resource("configs", ["Preflight x"]),
      resource("config-1", [], "configs x"),
      resource("config-2", ["config-1 x"], "configs x"),
      resource("Stages", ["config-2 x"]),
      resource("cni", ["Stages x"]),
      resource("release", [], "cni x"),
      resource("Ready", ["release x", "ground x"]),
    ],
    deletedWith: { "cni x": "configs x" },
  };
  const chain: readonly Link[] = [
    { stages: ["machines"], gate: "Preflight" },
    { stages: ["configs"], gate: "Stages" },
    { stages: ["cni"], gate: "Ready", inCluster: true },
  ];
  const judge = (graph: Graph, links = chain) =>
    graphFaults(graph, links, { ground: ["ground"], clusterIs: "configs x" });
  /** The same with another resource in place of the one with that type, or without it. */
  const where = (type: string, other?: GraphResource): Graph => ({
    ...good,
    resources: good.resources.flatMap((one) => (one.type !== type ? [one] : other === undefined ? [] : [other])),
  });

  test("finds no fault in a complete chain", () => {
    expect(judge(good)).toEqual([]);
  });

  test.each<[string, Graph, string[]]>([
    [
      "a stage that does not wait",
      where("configs", resource("configs")),
      ["configs x", "config-1 x", "config-2 x"]
        .map((one) => `${one} does not wait for Preflight x`)
        .concat("Stages x does not wait for Preflight x"),
    ],
    [
      "a part that is outside its component and does not wait",
      where("config-1", resource("config-1")),
      ["config-1 x is of no stage"],
    ],
    [
      "a stage that waits for an earlier gate than the one before it",
      where("cni", resource("cni", ["Preflight x"])),
      [
        "cni x does not wait for Stages x",
        "release x does not wait for Stages x",
        "Ready x does not wait for Stages x",
      ],
    ],
    [
      "a gate that opens without one part of its stage",
      where("Stages", resource("Stages", ["config-1 x"])),
      ["Stages x opens without config-2 x"],
    ],
    [
      "a gate that waits for nothing",
      where("Stages", resource("Stages")),
      [
        "Stages x opens without config-1 x",
        "Stages x opens without config-2 x",
        "Stages x does not wait for Preflight x",
      ],
    ],
    ["a gate that is not there", where("Ready"), ["there is not one gate Ready"]],
    [
      "a stage that is not there",
      { ...good, resources: good.resources.filter(({ type }) => type !== "cni" && type !== "release") },
      [
        "Ready x waits for release x, which is not there",
        "there is no stage cni",
        "Ready x does not wait for Stages x",
      ],
    ],
    [
      "a resource of no stage",
      { ...good, resources: [...good.resources, resource("stray", ["Ready x"])] },
      ["stray x is of no stage"],
    ],
    [
      "a resource in the cluster that is to be deleted by itself",
      { ...good, deletedWith: {} },
      ["cni x is not deleted with configs x", "release x is not deleted with configs x"],
    ],
    [
      "a resource in the cluster that goes with something else",
      { ...good, deletedWith: { "cni x": "server x" } },
      ["cni x is not deleted with configs x", "release x is not deleted with configs x"],
    ],
  ])("S3.3 finds %s", (_, graph, faults) => {
    expect(judge(graph)).toEqual(faults);
  });

  test("S3.3 finds that the last stage does not wait for one of two gates that are side by side", () => {
    const resources = (waited: readonly string[]) => [
      resource("first"),
      resource("a", ["first x"]),
      resource("A", ["a x"]),
      resource("b", ["first x"]),
      resource("B", ["b x"]),
      resource("last", waited),
      resource("Last", ["last x"]),
    ];
    const links: readonly Link[] = [
      { stages: [], gate: "first" },
      { stages: ["a"], gate: "A" },
      { stages: ["b"], gate: "B", isBeside: true },
      { stages: ["last"], gate: "Last" },
    ];
    const judgeBoth = (waited: readonly string[]) => judge({ resources: resources(waited), deletedWith: {} }, links);
    expect(judgeBoth(["A x", "B x"])).toEqual([]);
    expect(judgeBoth(["A x"])).toEqual(["last x does not wait for B x", "Last x does not wait for B x"]);
  });

  test("S3.3 finds a part that starts early, or that no gate proves", () => {
    const links = chain.map((link) => (link.gate === "Ready" ? { ...link, supplies: ["supply"] } : link));
    const supplied = (supply: readonly string[], ready: readonly string[]): Graph => {
      const { resources, deletedWith } = where("Ready", resource("Ready", ["release x", ...ready]));
      return {
        resources: [...resources, resource("supply", supply)],
        deletedWith: { ...deletedWith, "supply x": "configs x" },
      };
    };
    expect(judge(supplied(["Stages x"], ["supply x"]), links)).toEqual([]);
    expect(judge(supplied(["Stages x"], []), links)).toEqual(["no gate proves supply x"]);
    expect(judge(supplied(["Preflight x"], ["supply x"]), links)).toEqual(["supply x does not wait for Stages x"]);
  });
});
