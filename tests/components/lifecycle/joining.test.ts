import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { systemClock } from "../../../components/gates/clock.ts";
import { LivingCluster, type Newcomer } from "../../../components/lifecycle/joining.ts";
import { ApiServer } from "../kubernetes/apiServer.ts";
import { config, credentials, type FakeNode, FakeWorld, unavailable } from "../talos/fakeNodes.ts";

// A real server is talked to, so real time passes.
jest.setTimeout(30_000);

const first = "127.0.0.1";
let api: ApiServer;
let fake: FakeWorld;
beforeEach(async () => {
  api = new ApiServer();
  await api.start();
  fake = new FakeWorld();
});
afterEach(() => api.stop());

const world = () => Object.assign(Object.create(fake), fake, { clock: systemClock }) as FakeWorld;

/** Control planes with these members; who is not named is in maintenance. */
function cluster(members: readonly string[], ...running: readonly string[]): FakeNode[] {
  const nodes = running.map((name) => fake.add(name).runs(config({}, "controlplane")));
  for (const node of nodes) {
    node.etcd = { state: "Running", healthy: true };
    node.kubeconfig = api.kubeconfig();
    node.members = members;
    node.without = (gone) => {
      for (const one of nodes) one.members = one.members.filter((name) => name !== gone);
    };
  }
  return nodes;
}

const newcomer = (node: string, role: Newcomer["role"], ...peers: readonly string[]): Newcomer => ({
  node,
  role,
  address: node,
  peers: peers.map((name) => ({ node: name, endpoint: name, address: name })),
  credentials,
});

async function comes(who: Newcomer, seconds = 5): Promise<void> {
  const machine = fake.add(who.node);
  const found = await LivingCluster.of(who, world());
  await found?.makeRoom(machine.client("maintenance"), systemClock.now() + seconds * 1000);
}

const raise = (error: Error) => () => {
  throw error;
};

const nodeOf = (systemUUID: string) => {
  api.answer = (request, response) => {
    response.end(JSON.stringify(request.method === "GET" ? { status: { nodeInfo: { systemUUID } } } : {}));
  };
};
const deletions = () => api.asked.filter((call) => call.startsWith("DELETE"));

describe("a machine without a config", () => {
  test("finds no cluster while no control plane has an etcd", async () => {
    fake.add("cp-1");
    const prepared = fake.add("cp-2").runs(config({}, "controlplane"));
    prepared.etcd = { state: "Preparing", healthy: false };
    expect(await LivingCluster.of(newcomer("cp-3", "controlplane", "cp-1", "cp-2"), world())).toBeUndefined();
  });

  test.each([
    ["does not answer", (peer: FakeNode) => Object.assign(peer, { kind: "unreachable" })],
    ["waits for its certificate", (peer: FakeNode) => Object.assign(peer, { kind: "settling" })],
    ["fails to tell of its services", (peer: FakeNode) => peer.fail("services", raise(unavailable()))],
  ])("S1.3 is not sent a control plane's config while one that %s may have an etcd: that passes", async (_, spoil) => {
    spoil(fake.add("cp-1").runs(config({}, "controlplane")));
    const who = { ...newcomer("cp-2", "controlplane", "cp-1"), credentials: { ...credentials, ca: `ca ${_}` } };
    const made = LivingCluster.of(who, world());
    await expect(made).rejects.toMatchObject({ passing: true, seen: expect.stringContaining("cp-1") });
    const worker = { ...who, node: "w-1", role: "worker" } as const;
    fake.add("cp-1").kind = "unreachable";
    expect(await LivingCluster.of(worker, world())).toBeUndefined();
  });

  test("S1.3 finds none where those that do not answer were in maintenance themselves in this run", async () => {
    const own = { ...credentials, ca: "the ca of a first run" };
    const [one, other] = ["cp-1", "cp-2"].map((node) => fake.add(node));
    const of = (node: string, peer: string) => ({ ...newcomer(node, "controlplane", peer), credentials: own });
    expect(await LivingCluster.of(of("cp-1", "cp-2"), world())).toBeUndefined();
    // It installs.
    if (one !== undefined) one.kind = "unreachable";
    expect(await LivingCluster.of(of("cp-2", "cp-1"), world())).toBeUndefined();
    expect(other?.calls).toEqual([]);
  });

  test("that takes the place of a control plane together with another has both members taken out first: neither waits for the other's (complaint 13)", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3", "cp-4", "cp-5"], first, "cp-2", "cp-3");
    fake.add("cp-5");
    await comes(newcomer("cp-4", "controlplane", first, "cp-2", "cp-3", "cp-5"));
    expect(cp?.calls).toEqual(["remove cp-4", "remove cp-5"]);
  });

  test("does not come where the others are too few for a second one that was replaced", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3", "cp-4"], first, "cp-2");
    fake.add("cp-3");
    const made = comes(newcomer("cp-4", "controlplane", first, "cp-2", "cp-3"));
    await expect(made).rejects.toMatchObject({ code: "SLU-L101" });
    expect(cp?.calls).toEqual([]);
  });

  test("that takes the place of a control plane has its member taken out first, by those that are enough without (complaint 13)", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3"], first, "cp-2");
    await comes(newcomer("cp-3", "controlplane", first, "cp-2"));
    expect(cp?.calls).toEqual(["remove cp-3"]);
  });

  test("does not come where they would not be enough: nothing is changed", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3"], first);
    fake.add("cp-2").kind = "unreachable";
    const made = comes(newcomer("cp-3", "controlplane", first, "cp-2"));
    await expect(made).rejects.toMatchObject({
      code: "SLU-L101",
      seen: expect.stringContaining("not well: cp-2, cp-3"),
    });
    expect(cp?.calls).toEqual([]);
  });

  test("waits as a control plane more until every member is well (S1.3)", async () => {
    cluster([first, "cp-2"], first);
    fake.add("cp-2").kind = "unreachable";
    const made = comes(newcomer("cp-3", "controlplane", first, "cp-2"), 1);
    await expect(made).rejects.toMatchObject({ code: "SLU-T321", seen: expect.stringContaining("not well: cp-2") });
  });

  test("joins as a worker whatever etcd is like", async () => {
    const [cp] = cluster([first, "cp-2"], first);
    fake.add("cp-2").kind = "unreachable";
    await comes(newcomer("w-1", "worker", first, "cp-2"), 1);
    expect(cp?.calls).toEqual([]);
  });

  test("has the Node object of the machine before it deleted, which would keep that one's provider id", async () => {
    cluster([first], first);
    nodeOf("another-uuid");
    await comes(newcomer("w-1", "worker", first));
    expect(deletions()).toEqual(["DELETE /api/v1/nodes/w-1"]);
  });

  test("keeps the Node object when it is the same machine", async () => {
    cluster([first], first);
    nodeOf("THE-UUID");
    await comes(newcomer("w-1", "worker", first));
    expect(deletions()).toEqual([]);
  });

  test("goes on where no API tells of Node objects: the gate behind it will", async () => {
    cluster([first], first);
    await api.stop();
    await expect(comes(newcomer("w-1", "worker", first))).resolves.toBeUndefined();
    await api.start();
  });
});

test("a control plane has joined when it votes, as the others see it", async () => {
  const [cp] = cluster([first], first);
  const found = await LivingCluster.of(newcomer("cp-2", "controlplane", first), world());
  const joined = found?.joined(systemClock.now() + 5_000);
  setTimeout(() => {
    if (cp !== undefined) cp.members = [first, "cp-2"];
  }, 300);
  await joined;
  expect(fake.said).toContain("cp-2 is no member of etcd yet");
});
