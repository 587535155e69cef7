import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import { systemClock } from "../../../components/gates/clock.ts";
import { type MembersInputs, operations } from "../../../components/lifecycle/changeMembers.ts";
import type { Member } from "../../../components/lifecycle/departure.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { config, credentials, type FakeNode, FakeWorld, unavailable } from "../talos/fakeNodes.ts";

// What a machine takes to reset is waited for by the second.
jest.setTimeout(60_000);

/** The control plane that everything is asked of is where the test's API server is. */
const first = "127.0.0.1";
let api: ApiServer;
let fake: FakeWorld;
beforeEach(async () => {
  api = new ApiServer();
  await api.start();
  fake = new FakeWorld();
});
afterEach(() => api.stop());

/** Talks to a real server, so real time passes. */
const world = () =>
  Object.assign(Object.create(fake), fake, { clock: systemClock }) as FakeWorld & { clock: typeof systemClock };

function controlPlane(name: string): FakeNode {
  const node = fake.add(name).runs(config({}, "controlplane"));
  node.etcd = { state: "Running", healthy: true };
  node.kubeconfig = api.kubeconfig();
  return node;
}

function cluster(...names: readonly string[]): FakeNode[] {
  const nodes = names.map(controlPlane);
  for (const node of nodes) {
    node.members = names;
    node.without = (gone) => {
      for (const one of nodes) one.members = one.members.filter((name) => name !== gone);
    };
  }
  return nodes;
}

const member = (node: string, role: Member["role"] = "controlplane"): Member => ({
  node,
  role,
  address: node,
  endpoint: node,
  identity: {},
});
const inputs = (...nodes: readonly Member[]): MembersInputs => ({
  nodes: Object.fromEntries(nodes.map((one) => [one.node, one])),
  credentials,
  drainDeadline: 5,
  deadline: 20,
  row: "the urn",
});
const change = (olds: readonly Member[], news: readonly Member[]) =>
  operations.update(inputs(...olds), inputs(...news), world());
const failure = (made: Promise<unknown>) =>
  made.then(
    () => "it succeeded",
    ({ message }: Error) => message,
  );
const writes = () => api.asked.filter((call) => !/^(GET|WATCH) /.test(call));

describe("a node that is in the list no more", () => {
  test("leaves Kubernetes and loses its config, in this order, and nobody else is told anything", async () => {
    const [cp] = cluster(first);
    const worker = fake.add("w-1").runs(config());
    const news = [member(first)];
    expect(await change([...news, member("w-1", "worker")], news)).toEqual({ outs: inputs(...news) });
    expect(writes()).toEqual(["PATCH /api/v1/nodes/w-1", "DELETE /api/v1/nodes/w-1"]);
    expect([worker.calls, cp?.calls]).toEqual([["reset"], []]);
    expect(worker.kind).toBe("maintenance");
    expect(fake.noted).toEqual(["w-1 has left: drained, reset, and deleted in Kubernetes"]);
  });

  test("S1.6 is gone on with where a run before ended: what is reset already is not asked again", async () => {
    cluster(first);
    const worker = fake.add("w-1");
    await change([member(first), member("w-1", "worker")], [member(first)]);
    expect(writes()).toEqual(["DELETE /api/v1/nodes/w-1"]);
    expect(worker.calls).toEqual([]);
  });

  test("S1.7(6) is taken out though the Kubernetes API fails in passing, at every step of it", async () => {
    cluster(first);
    const worker = fake.add("w-1").runs(config());
    const failed = new Set<string>();
    api.answer = ({ method, url = "" }, response) => {
      const step = `${method} ${url}`;
      // The watches of the drain see to themselves.
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
    [403, "nodes is forbidden", /^SLU-K102 The Kubernetes API refuses.*w-1, leaving.*403 nodes is forbidden/s],
    [422, "Invalid value", /^SLU-K108 The Kubernetes API answered with an error.*422 Invalid value/s],
  ])("S2.6 stays when the Kubernetes API refuses with %d, which is told as its own", async (status, message, said) => {
    cluster(first);
    const worker = fake.add("w-1").runs(config());
    api.change = (_, response) => void response.writeHead(status).end(JSON.stringify({ message }));
    expect(await failure(change([member(first), member("w-1", "worker")], [member(first)]))).toMatch(said);
    expect(worker.calls).toEqual([]);
  });

  test("S1.7(6) is reset once when the answer to that is lost", async () => {
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

  test("has left also when its machine comes back at another address without its config, and is not said to have it still", async () => {
    cluster(first);
    const worker = fake.add("w-1").runs(config());
    worker.isMoved = true;
    const [olds, news] = [inputs(member(first), member("w-1", "worker")), inputs(member(first))];
    await operations.update(olds, { ...news, deadline: 6 }, world());
    expect(writes()).toContain("DELETE /api/v1/nodes/w-1");
    expect(fake.noted).toEqual([
      "w-1 has left: drained, told to reset, and deleted in Kubernetes. Its machine went down for that and was not seen in maintenance: without its config it may have another address",
    ]);
  });

  test("is not wiped when its address belongs to another node by now", async () => {
    cluster(first);
    const machine = fake.add("10.0.1.21").runs(config());
    const at = (node: string): Member => ({ ...member("10.0.1.21", "worker"), node });
    await change([member(first), at("w-1")], [member(first), at("w-9")]);
    expect(machine.calls).toEqual([]);
    expect(writes()).toEqual(["DELETE /api/v1/nodes/w-1"]);
    expect(fake.noted).toEqual(["w-1 has another name now: its machine was left as it is"]);
  });

  test("is not wiped when the machine is another one", async () => {
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

  test("gives up its leadership and leaves etcd before it is reset, when it is a control plane", async () => {
    const [, second, third] = cluster(first, "cp-2", "cp-3");
    await change([member(first), member("cp-2"), member("cp-3")], [member(first), member("cp-2")]);
    expect(third?.calls).toEqual(["forfeit", "leave", "reset"]);
    expect(second?.calls).toEqual([]);
    expect(second?.members).toEqual([first, "cp-2"]);
  });

  test("is taken out of etcd by the others when its machine lost all, and they are enough", async () => {
    const [cp, , third] = cluster(first, "cp-2", "cp-3");
    if (third !== undefined) third.kind = "maintenance";
    await change([member(first), member("cp-2"), member("cp-3")], [member(first), member("cp-2")]);
    expect(cp?.calls).toEqual(["remove cp-3"]);
  });

  test("is refused before anything is touched when etcd would not bear it (peers: quorum proof)", async () => {
    const nodes = cluster(first, "cp-2", "cp-3");
    const worker = fake.add("w-1").runs(config());
    if (nodes[1] !== undefined) nodes[1].etcd.healthy = false;
    const stay = [member(first), member("cp-2")];
    const text = await failure(change([...stay, member("cp-3"), member("w-1", "worker")], stay));
    expect(text).toMatch(/^SLU-L101 etcd would lose its quorum/);
    expect(text).toContain("without cp-3: of the 2 members that stay 2 have to be well");
    expect(text).toContain("(not well: cp-2). Nothing was changed");
    expect([worker, ...nodes].flatMap(({ calls }) => calls)).toEqual([]);
    expect(writes()).toEqual([]);
  });

  test("counts until it has left, when two leave", async () => {
    const nodes = cluster(first, "cp-2", "cp-3", "cp-4", "cp-5");
    const sick = nodes[1];
    if (sick !== undefined) sick.etcd.healthy = false;
    const stay = [first, "cp-2", "cp-3"].map((name) => member(name));
    // Of five with a sick one, four are left well, then three of four, then two of three: that is enough.
    await change([...stay, member("cp-4"), member("cp-5")], stay);
    expect(nodes.slice(3).map(({ calls }) => calls)).toEqual([
      ["forfeit", "leave", "reset"],
      ["forfeit", "leave", "reset"],
    ]);
    // And now of the three that are left none can be spared.
    const less = [member(first), member("cp-2")];
    expect(await failure(change(stay, less))).toContain("without cp-3");
    expect(nodes[2]?.calls).toEqual([]);
  });
});

describe("the preview of a list that changed", () => {
  const noted = async (olds: MembersInputs, news: MembersInputs) => ({
    diff: await operations.diff(olds, news, fake),
    noted: fake.noted,
  });

  test("says who leaves and what becomes of it, offline", async () => {
    const olds = inputs(member(first), member("cp-2"), member("cp-3"), member("w-1", "worker"));
    expect(await noted(olds, inputs(member(first), member("cp-2")))).toEqual({
      diff: { changes: true },
      noted: [
        "w-1 LEAVES the cluster: cordoned, drained, reset (STATE and EPHEMERAL), deleted in Kubernetes, and its machine goes last",
        "cp-3 LEAVES the cluster: cordoned, drained, taken out of etcd, whose 2 members then bear the loss of 0, reset (STATE and EPHEMERAL), deleted in Kubernetes, and its machine goes last",
      ],
    });
  });

  test("names nobody while the list is not known, as when a machine is replaced", async () => {
    const unknown = { ...inputs(), nodes: unknownValue as unknown as MembersInputs["nodes"] };
    expect(await noted(inputs(member(first)), unknown)).toEqual({ diff: { changes: true }, noted: [] });
  });

  test("is silent where none leaves", async () => {
    const list = inputs(member(first));
    expect(await noted(list, list)).toEqual({ diff: { changes: false }, noted: [] });
    expect(await noted(list, inputs(member(first), member("w-1", "worker")))).toEqual({
      diff: { changes: true },
      noted: [],
    });
  });
});
