import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import type { BackupPolicy } from "../../../../components/backup/backupFirst.ts";
import type { Role } from "../../../../components/model/role.ts";
import {
  type NodeInput,
  operations,
  type TalosUpgradeInputs,
  type TalosUpgradeState,
} from "../../../../components/upgrade/talos/talosUpgrade.provider.ts";
import { Backups, giveSnapshots, snapshot } from "../../backup/backups.ts";
import { FakeCluster } from "../../talos/fakeCluster.ts";
import { config, credentials, type FakeNode, failure, raise, refusal } from "../../talos/fakeNodes.ts";
import { FakeKubernetes } from "../fakeKubernetes.ts";

// The work on nodes of a cluster takes real time.
jest.setTimeout(60_000);

const [old, next] = ["a".repeat(64), "b".repeat(64)];
const installer = (version: string, schematic: string) =>
  `factory.example.org/metal-installer/${schematic}:v${version}`;
const wanted = (version: string, schematic = old) => ({ installer: installer(version, schematic), version, schematic });

const input = (
  name: string,
  to: NodeInput["wanted"],
  role: Role = name.startsWith("w") ? "worker" : "controlplane",
): NodeInput => ({
  name,
  role,
  address: name,
  talosAddress: name,
  identity: {},
  wanted: to,
});
const limits = { drain: true, drainSeconds: 1, volumes: true, nodeSeconds: 60, quorumSeconds: 2, storageSeconds: 1.5 };
const inputs = (nodes: readonly NodeInput[], more: Partial<TalosUpgradeInputs> = {}): TalosUpgradeInputs => ({
  nodes: Object.fromEntries(nodes.map((one) => [one.name, one])),
  credentials,
  parallel: 1,
  limits,
  pullSeconds: 10,
  row: "the urn",
  ...more,
});
const state = (of: TalosUpgradeInputs, more: Partial<TalosUpgradeState> = {}): TalosUpgradeState => ({
  ...of,
  others: {},
  seconds: {},
  drift: [],
  ...more,
});
const all = (to: NodeInput["wanted"], names: readonly string[] = ["cp-1", "w-1", "w-2"]) =>
  names.map((name) => input(name, to));

describe("S8.3 the preview of another Talos", () => {
  const preview = (olds: TalosUpgradeState, news: TalosUpgradeInputs) => ({
    ...operations.difference(olds, news),
    noted: operations.notes(olds, news).map(({ text }) => text),
  });
  const before = state(inputs(all(wanted("1.12.6"))));

  test("has one line for each node, in the order in which they change, offline", () => {
    const { kind, noted } = preview(before, inputs(all(wanted("1.13.8"))));
    expect(kind).toBe("update");
    expect(noted).toEqual([
      [
        "Talos is upgraded in this order; how long a node takes is not known yet",
        "  1. w-1 Talos 1.12.6 -> 1.13.8: drained, reboots once",
        "  2. cp-1 Talos 1.12.6 -> 1.13.8: drained, reboots once",
        "  3. w-2 Talos 1.12.6 -> 1.13.8: drained, reboots once",
      ].join("\n"),
      "no backup is taken before that: backup is not configured, or backup.beforeChanges is false",
    ]);
  });

  test("says roughly how long it takes, from what the last nodes took", () => {
    const known = state(before, { seconds: { "cp-1": 300, "w-1": 118, "w-2": 62 } });
    const news = inputs(all(wanted("1.13.8"), ["cp-1", "w-1", "w-2", "w-3"]), {
      parallel: 2,
      backup: {} as BackupPolicy,
    });
    const olds = state(
      { ...known, nodes: { ...known.nodes, "w-3": input("w-3", wanted("1.12.6")) } },
      { seconds: known.seconds },
    );
    expect(preview(olds, news).noted).toEqual([
      [
        "Talos is upgraded in this order; about 6 min in all",
        "  1. w-1 Talos 1.12.6 -> 1.13.8: drained, reboots once, about 2 min",
        "  2. cp-1 Talos 1.12.6 -> 1.13.8: drained, reboots once, about 5 min",
        "  3. w-2 Talos 1.12.6 -> 1.13.8: drained, reboots once, 2 workers at a time, about 60 s",
        "  4. w-3 Talos 1.12.6 -> 1.13.8: drained, reboots once, 2 workers at a time, about 2 min",
      ].join("\n"),
      "a backup is taken before that; if it fails, nothing is changed",
    ]);
  });

  test("shows a schematic that changes alone, and a node that is not drained", () => {
    const single = [input("cp-1", wanted("1.12.6"))];
    const { noted } = preview(state(inputs(single)), inputs([input("cp-1", wanted("1.12.6", next))]));
    expect(noted[0]).toContain("1. cp-1 Talos 1.12.6, schematic aaaaaaaa -> bbbbbbbb: reboots once");
  });

  test("warns of an older version", () => {
    const [note] = operations.notes(before, inputs(all(wanted("1.11.6"))));
    expect(note).toMatchObject({ as: "warning", text: expect.stringContaining("Talos GOES BACK to an older version") });
  });

  test("names only the nodes that do not run it yet: those that an earlier run has left, or that a refresh found", () => {
    const olds = state(before, { others: { "w-1": { version: "1.13.8", schematic: old } } });
    const { noted } = preview(olds, inputs(all(wanted("1.13.8"))));
    expect(noted[0]).not.toContain("w-1");
    const drifted = state(inputs(all(wanted("1.12.6"))), { others: { "w-2": { version: "1.12.1", schematic: old } } });
    const same = preview(drifted, inputs(all(wanted("1.12.6"))));
    expect(same.kind).toBe("update");
    expect(same.noted[0]).toContain("1. w-2 Talos 1.12.1 -> 1.12.6");
  });

  test("says nothing of nodes that are new or leave, and of a config that is not known yet", () => {
    expect(preview(before, inputs(all(wanted("1.12.6"), ["cp-1", "w-3"])))).toEqual({ kind: "record", noted: [] });
    const unknown = unknownValue as unknown as NodeInput["wanted"];
    expect(preview(before, inputs(all(unknown))).noted).toEqual([]);
    const list = { ...inputs([]), nodes: unknownValue as unknown as TalosUpgradeInputs["nodes"] };
    expect(preview(before, list)).toEqual({ kind: "none", noted: [] });
    expect(operations.refusal(before, list)).toBeUndefined();
    expect(preview(before, before)).toEqual({ kind: "none", noted: [] });
  });

  test("treats the schematic of the machine's own image as that of the installer", () => {
    const own = { ...input("cp-1", wanted("1.12.6")), own: next };
    const olds = state(inputs([own]), { others: { "cp-1": { version: "1.12.6", schematic: next } } });
    expect(preview(olds, inputs([own])).noted).toEqual([]);
  });

  test("refuses a step that Talos does not support, and names the node", () => {
    const refused = operations.refusal(before, inputs(all(wanted("1.14.1"))));
    expect(refused?.message).toMatch(/^SLU-T401 .*cp-1.*it runs Talos 1\.12\.6, and would get 1\.14\.1/s);
    expect(operations.refusal(before, inputs(all(wanted("1.13.8"))))).toBeUndefined();
  });
});

describe("S8.3 the upgrade of a cluster", () => {
  /** The control plane that all calls to Kubernetes go to has the address of the test's API server. */
  const first = "127.0.0.1";
  let fake: FakeCluster;
  let kubernetes: FakeKubernetes;
  let nodes: FakeNode[];
  const names = [first, "cp-2", "cp-3", "w-1", "w-2"];
  beforeEach(async () => {
    fake = await FakeCluster.start();
    kubernetes = new FakeKubernetes(fake.api);
    kubernetes.missing.add("/apis/longhorn.io/v1beta2/volumes").add("/apis/ceph.rook.io/v1/cephclusters");
    nodes = [
      ...fake.addControlPlanes(names.slice(0, 3)),
      ...names.slice(3).map((name) => fake.add(name).runs(config())),
    ];
    for (const node of nodes) {
      Object.assign(node, { version: "1.13.5", schematic: old, ready: true });
      const restart = node.restart.bind(node);
      node.restart = () => {
        restart();
        fake.clock.after(3_000, () => ready(node));
      };
      ready(node);
    }
  });
  afterEach(() => fake.api.stop());

  /** Its kubelet has registered in the current boot. */
  function ready(node: FakeNode): void {
    const path = `/api/v1/nodes/${node.name}`;
    const { spec, metadata } = kubernetes.objects.get(path) ?? {};
    const status = { nodeInfo: { bootID: `boot ${node.boots}` }, conditions: [{ type: "Ready", status: "True" }] };
    kubernetes.put(path, { metadata, spec, status });
  }

  const members = (to: NodeInput["wanted"]) =>
    names.map((name) => input(name, to, name.startsWith("w") ? "worker" : "controlplane"));
  const olds = () => state(inputs(members(wanted("1.13.5"))));
  const validate = async () => [];
  const context = () => Object.assign(fake.inRealTime(), { validate });
  const run = (news = inputs(members(wanted("1.13.8"))), before = olds()) => operations.update(before, news, context());
  const changes = () =>
    names.map((name) =>
      fake
        .node(name)
        .calls.filter((call) => call !== "pull")
        .join(" "),
    );
  const cordons = () => kubernetes.writes.filter((write) => write.startsWith("PATCH /api/v1/nodes"));

  test("changes every node once: a worker, the control planes, the other workers, each cordoned only meanwhile", async () => {
    const order: string[] = [];
    for (const node of nodes) {
      const { restart } = node;
      node.restart = () => {
        order.push(node.name);
        restart();
      };
    }
    const after = await run();
    expect(order).toEqual(["w-1", first, "cp-2", "cp-3", "w-2"]);
    expect(changes()).toEqual([...Array(3).fill("forfeit install reboot"), ...Array(2).fill("install reboot")]);
    expect(cordons()).toEqual(order.flatMap((name) => Array(2).fill(`PATCH /api/v1/nodes/${name}`)));
    expect(
      [...kubernetes.objects.values()].filter(({ spec }) => (spec as { unschedulable?: boolean })?.unschedulable),
    ).toEqual([]);
    expect(after).toMatchObject({ others: {}, drift: [] });
    expect(Object.keys(after.seconds).sort()).toEqual([...names].sort());
    expect(fake.noted[0]).toMatch(/^w-1 runs Talos 1\.13\.8 with schematic aaaaaaaa, before Talos 1\.13\.5/);
    expect(kubernetes.writes.at(-1)).toBe(
      "DELETE /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/sluice-upgrade",
    );
  });

  test("S1.6 resumes: nodes that run it are left alone, and one that is still cordoned is finished first [C23]", async () => {
    for (const name of ["w-1", first]) Object.assign(fake.node(name), { version: "1.13.8" });
    kubernetes.put("/api/v1/nodes/w-1", {
      ...kubernetes.objects.get("/api/v1/nodes/w-1"),
      metadata: { annotations: { "sluice/cordoned-for": "upgrade" } },
      spec: { unschedulable: true },
    });
    await run();
    expect(changes()).toEqual(["", ...Array(2).fill("forfeit install reboot"), "", "install reboot"]);
    expect(cordons()[0]).toBe("PATCH /api/v1/nodes/w-1");
    expect(kubernetes.objects.get("/api/v1/nodes/w-1")?.spec).toEqual({});
  });

  test("leaves the cordon of a user", async () => {
    kubernetes.put("/api/v1/nodes/w-1", {
      ...kubernetes.objects.get("/api/v1/nodes/w-1"),
      spec: { unschedulable: true },
    });
    await run();
    expect(kubernetes.objects.get("/api/v1/nodes/w-1")?.spec).toEqual({ unschedulable: true });
    expect(fake.node("w-1").version).toBe("1.13.8");
  });

  test("stops at the first failure, records what each node runs, and ends the cordon of a node that still serves", async () => {
    fake.node(first).installer.exitCode = 1;
    const error = await run().catch((one: unknown) => one);
    const { message } = error as Error;
    expect(message).toMatch(/^SLU-T404 The installer failed on a node/);
    expect(message).toContain(`${first}, running, after 1 attempt`);
    expect(message).toContain(`now ${first}, cp-2, cp-3, w-2: Talos 1.13.5 with schematic aaaaaaaa; w-1: Talos 1.13.8`);
    expect(changes()).toEqual(["forfeit install", "", "", "install reboot", ""]);
    expect(kubernetes.objects.get(`/api/v1/nodes/${first}`)?.spec).toEqual({});
    fake.node(first).installer.exitCode = 0;
    const after = await run();
    expect(changes()[3]).toBe("install reboot");
    expect(after.others).toEqual({});
  });

  test("ends before any node is changed if one of them cannot pull the installer, and names each that cannot", async () => {
    for (const name of ["cp-3", "w-2"])
      fake.node(name).fail("pull", raise(refusal(5, "error pulling image: not found")));
    const text = await failure(run());
    expect(text).toMatch(/^SLU-T403 A node cannot pull the installer image/);
    expect(text).toContain(`cp-3: ${installer("1.13.8", old)}: error pulling image: not found`);
    expect(text).toContain("w-2: ");
    expect(changes()).toEqual(["", "", "", "", ""]);
    expect(kubernetes.writes).toEqual([]);
  });

  test("ends before any node is changed if the new Talos would refuse a running config", async () => {
    const refusing = { ...context(), validate: async () => ["unknown keys found"] };
    const text = await failure(operations.update(olds(), inputs(members(wanted("1.13.8"))), refusing));
    expect(text).toMatch(/^SLU-T402 .*Talos 1\.13\.8: unknown keys found\. Nothing was changed/s);
    expect(nodes.flatMap(({ calls }) => calls)).toEqual([]);
  });

  test("does not go back to an older minor version without a validator", async () => {
    const blind = { ...context(), validate: async () => undefined };
    const text = await failure(operations.update(olds(), inputs(members(wanted("1.12.6"))), blind));
    expect(text).toMatch(/^SLU-T402 .*only `npm run up` can find that out beforehand/s);
    expect(nodes.flatMap(({ calls }) => calls)).toEqual([]);
  });

  test("ends before any node is changed if a budget makes a drain impossible", async () => {
    const pod = "/api/v1/namespaces/shop/pods/db-0";
    kubernetes.put(pod, {
      metadata: { namespace: "shop", labels: { app: "db" } },
      spec: { nodeName: "w-2" },
      status: { phase: "Running" },
    });
    kubernetes.put("/apis/policy/v1/namespaces/shop/poddisruptionbudgets/db", {
      metadata: { namespace: "shop" },
      spec: { selector: { matchLabels: { app: "db" } } },
      status: { expectedPods: 1, desiredHealthy: 1, disruptionsAllowed: 0 },
    });
    const text = await failure(run());
    expect(text).toMatch(
      /^SLU-L106 .*shop\/db requires 1 of 1 healthy, and db-0 on w-2 would have to be evicted\n\s+Nothing was changed/s,
    );
    expect(changes()).toEqual(["", "", "", "", ""]);
    await run(inputs(members(wanted("1.13.8")), { limits: { ...limits, drain: false } }));
    expect(kubernetes.objects.has(pod)).toBe(true);
  });

  test("evicts the pods of a node, and stops with the budget that forbids it; the node is free again", async () => {
    const pod = "/api/v1/namespaces/shop/pods/db-0";
    kubernetes.put(pod, {
      metadata: { namespace: "shop", uid: "1" },
      spec: { nodeName: "w-1" },
      status: { phase: "Running" },
    });
    kubernetes.refused.set("db-0", "Cannot evict pod as it would violate the pod's disruption budget.");
    const text = await failure(run());
    expect(text).toMatch(/^SLU-L102 A node could not be drained/);
    expect(text).toContain("shop/db-0: 429 Cannot evict pod as it would violate the pod's disruption budget.");
    expect(changes()).toEqual(["", "", "", "", ""]);
    expect(kubernetes.objects.get("/api/v1/nodes/w-1")?.spec).toEqual({});
    kubernetes.refused.clear();
    await run();
    expect(kubernetes.objects.has(pod)).toBe(false);
  });

  test("waits for volumes, and stops with those that are not as they should be", async () => {
    kubernetes.missing.clear();
    kubernetes.missing.add("/apis/ceph.rook.io/v1/cephclusters");
    const volume = "/apis/longhorn.io/v1beta2/namespaces/longhorn-system/volumes/pvc-1";
    kubernetes.put(volume, { status: { state: "attached", robustness: "degraded" } });
    expect(await failure(run())).toMatch(/^SLU-T407 .*Longhorn volume pvc-1 is degraded, attached/s);
    expect(changes()).toEqual(["", "", "", "", ""]);
    setTimeout(() => kubernetes.put(volume, { status: { state: "attached", robustness: "healthy" } }), 500);
    await run();
    expect(fake.said).toContainEqual(
      expect.stringContaining("waits for volumes: Longhorn volume pvc-1 is degraded, attached"),
    );
  });

  test("S7.3 takes a verified backup before the first node is changed; one that fails leaves every node alone", async () => {
    const backups = await Backups.make();
    try {
      giveSnapshots(nodes.slice(0, 3), [snapshot.subarray(0, 50_000)]);
      const news = inputs(members(wanted("1.13.8")), { backup: backups.policy });
      expect(await failure(run(news))).toMatch(/^SLU-B107 /);
      expect(changes()).toEqual(["", "", "", "", ""]);
      giveSnapshots(nodes.slice(0, 3));
      await run(news);
      expect(backups.manifests).toMatchObject([{ reason: "before 5 nodes get another Talos" }]);
    } finally {
      backups.remove();
    }
  });

  test("does not take a control plane down while another one is not healthy in etcd", async () => {
    for (const name of ["cp-2"]) fake.node(name).etcd.healthy = false;
    const text = await failure(run());
    expect(text).toContain("unhealthy: cp-2");
    expect(changes()).toEqual(["", "", "", "", ""]);
  });

  test("is refused while a control plane is in maintenance", async () => {
    fake.node("cp-3").kind = "maintenance";
    expect(await failure(run())).toMatch(/^SLU-T408 .*cp-3 is in maintenance, without a config\. Nothing was changed/s);
    expect(changes()).toEqual(["", "", "", "", ""]);
  });

  test("leaves a worker in maintenance to the machine configs", async () => {
    fake.node("w-2").kind = "maintenance";
    await run();
    expect(changes()[4]).toBe("");
    expect(fake.node("w-1").version).toBe("1.13.8");
  });

  describe("when the state has no such resource yet", () => {
    const create = (to: NodeInput["wanted"]) => operations.create(inputs(members(to)), context());
    const installs = (image: string) => config({ install: { image } });

    test("nothing happens to nodes without a config, and nobody asks Kubernetes", async () => {
      for (const node of nodes) node.kind = "maintenance";
      expect(await create(wanted("1.13.8"))).toMatchObject({ others: {}, seconds: {} });
      expect(kubernetes.server.asked).toEqual([]);
    });

    test("a node whose config asks for another Talos than before is upgraded", async () => {
      for (const node of nodes) node.running = installs(installer("1.13.5", old));
      await create(wanted("1.13.8"));
      expect(nodes.every(({ version }) => version === "1.13.8")).toBe(true);
    });

    test("a node that does not answer is not waited for if no other one is to change: it is judged when it gets its config", async () => {
      fake.node("w-2").kind = "unreachable";
      const began = fake.clock.now();
      expect((await create(wanted("1.13.5"))).others).toEqual({});
      expect(fake.clock.now() - began).toBeLessThan(10_000);
      expect(changes()).toEqual(["", "", "", "", ""]);
    });

    test("a node that someone has upgraded by hand is left alone, and recorded: the next preview shows it", async () => {
      for (const node of nodes) Object.assign(node, { running: installs(installer("1.13.8", old)), version: "1.13.8" });
      fake.node("w-2").version = "1.13.9";
      const made = await create(wanted("1.13.8"));
      expect(changes()).toEqual(["", "", "", "", ""]);
      expect(made.others).toEqual({ "w-2": { version: "1.13.9", schematic: old } });
      expect(operations.difference(made, inputs(members(wanted("1.13.8"))))).toEqual({ kind: "update" });
    });
  });

  describe("a refresh", () => {
    const read = (before: TalosUpgradeState) => operations.read(before, context());

    test("changes nothing if all nodes run what they should", async () => {
      expect(await read(olds())).toEqual(olds());
    });

    test("finds the nodes that run another Talos, and keeps what is known of one that does not answer", async () => {
      fake.node("w-1").version = "1.13.4";
      fake.node("w-2").kind = "unreachable";
      const before = state(olds(), { others: { "w-2": { version: "1.13.3", schematic: old } } });
      const after = await read(before);
      expect(after.others).toEqual({
        "w-1": { version: "1.13.4", schematic: old },
        "w-2": { version: "1.13.3", schematic: old },
      });
      expect(after.drift).toEqual(["w-1 runs Talos 1.13.4, not 1.13.5"]);
    });
  });
});
