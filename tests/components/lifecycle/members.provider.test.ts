import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import type { BackupPolicy } from "../../../components/backup/backupFirst.ts";
import type { Member } from "../../../components/lifecycle/departure.ts";
import { type MembersInputs, operations } from "../../../components/lifecycle/members.provider.ts";
import { Backups, giveSnapshots, snapshot, snapshotFacts } from "../backup/backups.ts";
import { FakeCluster } from "../talos/fakeCluster.ts";
import { config, credentials, failure, unavailable } from "../talos/fakeNodes.ts";

// The reset of a machine is polled each second.
jest.setTimeout(60_000);

/** The control plane that all calls go to has the address of the test's API server. */
const first = "127.0.0.1";
let fake: FakeCluster;
beforeEach(async () => {
  fake = await FakeCluster.start();
});
afterEach(() => fake.api.stop());

const cluster = (...names: readonly string[]) => fake.addControlPlanes(names);

const member = (name: string, role: Member["role"] = "controlplane"): Member => ({
  name,
  role,
  address: name,
  talosAddress: name,
  identity: {},
});
const inputs = (...nodes: readonly Member[]): MembersInputs => ({
  nodes: Object.fromEntries(nodes.map((one) => [one.name, one])),
  credentials,
  drainDeadlineSeconds: 5,
  deadlineSeconds: 20,
  row: "the urn",
});
const change = (olds: readonly Member[], news: readonly Member[]) =>
  operations.update(inputs(...olds), inputs(...news), fake.inRealTime());
const writes = () => fake.api.asked.filter((call) => !/^(GET|WATCH) /.test(call));

describe("a node whose entry was deleted", () => {
  test("leaves Kubernetes and loses its config, in this order, and no other node is called", async () => {
    const [cp] = cluster(first);
    const worker = fake.add("w-1").runs(config());
    const news = [member(first)];
    expect(await change([...news, member("w-1", "worker")], news)).toEqual(inputs(...news));
    expect(writes()).toEqual(["PATCH /api/v1/nodes/w-1", "DELETE /api/v1/nodes/w-1"]);
    expect([worker.calls, cp?.calls]).toEqual([["reset"], []]);
    expect(worker.kind).toBe("maintenance");
    expect(fake.noted).toEqual(["w-1 has left: drained, reset, and deleted in Kubernetes"]);
  });

  test("S1.6 is removed from where an earlier run ended: a node that is already reset is not called again", async () => {
    cluster(first);
    const worker = fake.add("w-1");
    await change([member(first), member("w-1", "worker")], [member(first)]);
    expect(writes()).toEqual(["DELETE /api/v1/nodes/w-1"]);
    expect(worker.calls).toEqual([]);
  });

  test("S1.7(6) is removed although the Kubernetes API fails transiently at every step", async () => {
    cluster(first);
    const worker = fake.add("w-1").runs(config());
    const failed = new Set<string>();
    fake.api.answer = ({ method, url = "" }, response) => {
      const step = `${method} ${url}`;
      // The watches of the drain do not matter here.
      const isOfNode = url === "/api/v1/nodes/w-1";
      if (isOfNode && !failed.has(step)) {
        failed.add(step);
        response.writeHead(503).end(JSON.stringify({ message: "etcdserver: leader changed" }));
      } else response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }));
    };
    await change([member(first), member("w-1", "worker")], [member(first)]);
    expect([...failed]).toEqual(["GET", "PATCH", "DELETE"].map((method) => `${method} /api/v1/nodes/w-1`));
    expect(writes().slice(-2)).toEqual(["DELETE /api/v1/nodes/w-1", "DELETE /api/v1/nodes/w-1"]);
    expect(worker.kind).toBe("maintenance");
  });

  test.each([
    [403, "nodes is forbidden", /^SLU-K102 The Kubernetes API rejects.*w-1, leaving.*403 nodes is forbidden/s],
    [422, "Invalid value", /^SLU-K108 The Kubernetes API returned an error.*422 Invalid value/s],
  ])(
    "S2.6 stays when the Kubernetes API refuses with %d, which is reported as the API's error",
    async (status, message, said) => {
      cluster(first);
      const worker = fake.add("w-1").runs(config());
      fake.api.change = (_, response) => void response.writeHead(status).end(JSON.stringify({ message }));
      expect(await failure(change([member(first), member("w-1", "worker")], [member(first)]))).toMatch(said);
      expect(worker.calls).toEqual([]);
    },
  );

  test("S1.7(6) is reset once when the answer to the reset is lost", async () => {
    cluster(first);
    const worker = fake.add("w-1").runs(config());
    worker.fail("reset", () => {
      worker.kind = "unreachable";
      fake.clock.after(3000, () => {
        worker.kind = "maintenance";
      });
      throw unavailable();
    });
    await change([member(first), member("w-1", "worker")], [member(first)]);
    expect(worker.calls).toEqual(["reset"]);
    expect(fake.noted).toEqual(["w-1 has left: drained, reset, and deleted in Kubernetes"]);
  });

  test("has left when its machine comes back at another address without its config, and is not reported to still have it", async () => {
    cluster(first);
    const worker = fake.add("w-1").runs(config());
    worker.isMoved = true;
    const [olds, news] = [inputs(member(first), member("w-1", "worker")), inputs(member(first))];
    await operations.update(olds, { ...news, deadlineSeconds: 6 }, fake.inRealTime());
    expect(writes()).toContain("DELETE /api/v1/nodes/w-1");
    expect(fake.noted).toEqual([
      "w-1 has left: drained, sent the reset call, and deleted in Kubernetes. Its machine went down for that and was not seen in maintenance: without its config it may have another address",
    ]);
  });

  test("is not reset when its address now belongs to another node", async () => {
    cluster(first);
    const machine = fake.add("10.0.1.21").runs(config());
    const at = (name: string): Member => ({ ...member("10.0.1.21", "worker"), name });
    await change([member(first), at("w-1")], [member(first), at("w-9")]);
    expect(machine.calls).toEqual([]);
    expect(writes()).toEqual(["DELETE /api/v1/nodes/w-1"]);
    expect(fake.noted).toEqual(["w-1 was renamed: its machine was not changed"]);
  });

  test("is not reset when another machine has its address [C11]", async () => {
    cluster(first);
    const machine = fake.add("w-1").runs(config());
    const known = { ...member("w-1", "worker"), identity: { uuid: "another" } };
    expect(await failure(change([member(first), known], [member(first)]))).toMatch(
      /^SLU-T302.*its machine UUID is the-uuid, not another/s,
    );
    expect([machine.calls, writes()]).toEqual([[], []]);
  });

  test("is left alone when it belongs to another cluster", async () => {
    cluster(first);
    const machine = fake.add("w-1");
    machine.kind = "foreign";
    await change([member(first), member("w-1", "worker")], [member(first)]);
    expect(machine.calls).toEqual([]);
    expect(fake.noted[0]).toContain("At its address is a machine of another cluster, which was not touched");
  });

  test("gives up its leadership and leaves etcd before it is reset, if it is a control plane [C10]", async () => {
    const [, second, third] = cluster(first, "cp-2", "cp-3");
    await change([member(first), member("cp-2"), member("cp-3")], [member(first), member("cp-2")]);
    expect(third?.calls).toEqual(["forfeit", "leave", "reset"]);
    expect(second?.calls).toEqual([]);
    expect(second?.members).toEqual([first, "cp-2"]);
  });

  test("is removed from etcd by the other members if its machine lost everything and they keep the quorum", async () => {
    const [cp, , third] = cluster(first, "cp-2", "cp-3");
    if (third !== undefined) third.kind = "maintenance";
    await change([member(first), member("cp-2"), member("cp-3")], [member(first), member("cp-2")]);
    expect(cp?.calls).toEqual(["remove cp-3"]);
  });

  test("is refused before anything is touched if etcd would lose its quorum [C10]", async () => {
    const nodes = cluster(first, "cp-2", "cp-3");
    const worker = fake.add("w-1").runs(config());
    if (nodes[1] !== undefined) nodes[1].etcd.healthy = false;
    const stay = [member(first), member("cp-2")];
    const text = await failure(change([...stay, member("cp-3"), member("w-1", "worker")], stay));
    expect(text).toMatch(/^SLU-L101 etcd would lose its quorum/);
    expect(text).toContain("without cp-3: 2 of the 2 remaining members must be healthy");
    expect(text).toContain("(unhealthy: cp-2). Nothing was changed");
    expect([worker, ...nodes].flatMap(({ calls }) => calls)).toEqual([]);
    expect(writes()).toEqual([]);
  });

  test("counts as a member until it has left, when two leave", async () => {
    const nodes = cluster(first, "cp-2", "cp-3", "cp-4", "cp-5");
    const sick = nodes[1];
    if (sick !== undefined) sick.etcd.healthy = false;
    const stay = [first, "cp-2", "cp-3"].map((name) => member(name));
    // Of five with an unhealthy one, four are healthy, then three of four, then two of three: a quorum.
    await change([...stay, member("cp-4"), member("cp-5")], stay);
    expect(nodes.slice(3).map(({ calls }) => calls)).toEqual([
      ["forfeit", "leave", "reset"],
      ["forfeit", "leave", "reset"],
    ]);
    // Of the three that are left none can be removed.
    const less = [member(first), member("cp-2")];
    expect(await failure(change(stay, less))).toContain("without cp-3");
    expect(nodes[2]?.calls).toEqual([]);
  });
});

describe("a backup before control planes leave (S7.3)", () => {
  let backups: Backups;
  beforeEach(async () => {
    backups = await Backups.make();
  });
  afterEach(() => backups.remove());
  const stay = [member(first), member("cp-2")];
  const leave = (...leaving: readonly Member[]) => {
    const news = { ...inputs(...stay), backup: backups.policy };
    return operations.update(inputs(...stay, ...leaving), news, fake.inRealTime());
  };

  test("is taken once, however many leave, and says before what", async () => {
    giveSnapshots(cluster(first, "cp-2", "cp-3", "cp-4", "cp-5"));
    stay.push(member("cp-3"));
    await leave(member("cp-4"), member("cp-5"));
    stay.pop();
    expect(backups.manifests).toMatchObject([
      { reason: "before cp-4, cp-5 leave the cluster", etcd: { revision: snapshotFacts.revision } },
    ]);
  });

  test("that fails leaves every node alone", async () => {
    const nodes = cluster(first, "cp-2", "cp-3");
    giveSnapshots(nodes, [snapshot.subarray(0, 50_000)]);
    const text = await failure(leave(member("cp-3")));
    expect(text).toMatch(/^SLU-B107 The backup before a change failed/);
    expect(text).toMatch(/SLU-B101 The etcd snapshot is damaged.*Nothing was changed/);
    expect(nodes.flatMap(({ calls }) => calls)).toEqual([]);
    expect(backups.manifests).toEqual([]);
  });

  test("is not taken before a worker leaves", async () => {
    cluster(first, "cp-2");
    fake.add("w-1").runs(config());
    await leave(member("w-1", "worker"));
    expect(backups.manifests).toEqual([]);
  });
});

describe("the preview of a list that changed", () => {
  const preview = (olds: MembersInputs, news: MembersInputs) => ({
    ...operations.difference(olds, news),
    noted: operations.notes(olds, news).map(({ text }) => text),
  });

  test("names the nodes that leave and what happens to them, offline", () => {
    const olds = inputs(member(first), member("cp-2"), member("cp-3"), member("w-1", "worker"));
    expect(preview(olds, inputs(member(first), member("cp-2")))).toEqual({
      kind: "update",
      noted: [
        "w-1 LEAVES the cluster: cordoned, drained, reset (STATE and EPHEMERAL), deleted in Kubernetes, and its machine goes last",
        "cp-3 LEAVES the cluster: cordoned, drained, removed from etcd, whose 2 members then tolerate the loss of 0, reset (STATE and EPHEMERAL), deleted in Kubernetes, and its machine goes last",
        "no backup is taken before that: backup is not configured, or backup.beforeChanges is false",
      ],
    });
    const backup = {} as BackupPolicy;
    const { noted } = preview(olds, { ...inputs(member(first), member("cp-2")), backup });
    expect(noted.at(-1)).toBe("a backup is taken before that; if it fails, nothing is changed");
    // The loss of a worker puts nothing of etcd at risk.
    expect(preview(olds, inputs(member(first), member("cp-2"), member("cp-3"))).noted).toHaveLength(1);
  });

  test("names no node while the list is unknown, as when a machine is replaced", () => {
    const unknown = { ...inputs(), nodes: unknownValue as unknown as MembersInputs["nodes"] };
    expect(preview(inputs(member(first)), unknown)).toEqual({ kind: "update", noted: [] });
  });

  test("shows nothing if none leaves", () => {
    const list = inputs(member(first));
    expect(preview(list, list)).toEqual({ kind: "none", noted: [] });
    expect(preview(list, inputs(member(first), member("w-1", "worker")))).toEqual({
      kind: "update",
      noted: [],
    });
  });
});
