import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { LivingCluster, type Newcomer } from "../../../../components/talos/etcd/livingCluster.ts";
import { systemClock } from "../../../../components/waiting/clock.ts";
import { FakeCluster } from "../fakeCluster.ts";
import { config, credentials, type FakeNode, raise, unavailable } from "../fakeNodes.ts";

// Calls go to a real server, so real time passes.
jest.setTimeout(30_000);

const first = "127.0.0.1";
let fake: FakeCluster;
beforeEach(async () => {
  fake = await FakeCluster.start();
});
afterEach(() => fake.api.stop());

const cluster = (members: readonly string[], ...running: readonly string[]) => fake.addControlPlanes(running, members);

const newcomer = (node: string, role: Newcomer["role"], ...peers: readonly string[]): Newcomer => ({
  node,
  role,
  address: node,
  peers: peers.map((name) => ({ name, talosAddress: name, address: name })),
  credentials,
});

async function comes(who: Newcomer, seconds = 5): Promise<void> {
  const machine = fake.add(who.node);
  const found = await LivingCluster.find(who, fake.inRealTime());
  await found?.removePredecessor(machine.client("maintenance"), systemClock.now() + seconds * 1000);
}

const nodeOf = (systemUUID: string) => {
  fake.api.answer = (request, response) => {
    response.end(JSON.stringify(request.method === "GET" ? { status: { nodeInfo: { systemUUID } } } : {}));
  };
};
const deletions = () => fake.api.asked.filter((call) => call.startsWith("DELETE"));

describe("a machine without a config", () => {
  test("finds no cluster while no control plane has an etcd", async () => {
    fake.add("cp-1");
    const prepared = fake.add("cp-2").runs(config({}, "controlplane"));
    prepared.etcd = { state: "Preparing", healthy: false };
    expect(
      await LivingCluster.find(newcomer("cp-3", "controlplane", "cp-1", "cp-2"), fake.inRealTime()),
    ).toBeUndefined();
  });

  test.each([
    ["does not answer", (peer: FakeNode) => Object.assign(peer, { kind: "unreachable" })],
    ["waits for its certificate", (peer: FakeNode) => Object.assign(peer, { kind: "settling" })],
    ["fails to list its services", (peer: FakeNode) => peer.fail("services", raise(unavailable()))],
  ])("S1.3 gets no control plane's config while one that %s may have an etcd, which is retried", async (_, spoil) => {
    spoil(fake.add("cp-1").runs(config({}, "controlplane")));
    const who = { ...newcomer("cp-2", "controlplane", "cp-1"), credentials: { ...credentials, ca: `ca ${_}` } };
    const made = LivingCluster.find(who, fake.inRealTime());
    await expect(made).rejects.toMatchObject({ retryable: true, seen: expect.stringContaining("cp-1") });
    const worker = { ...who, node: "w-1", role: "worker" } as const;
    fake.add("cp-1").kind = "unreachable";
    expect(await LivingCluster.find(worker, fake.inRealTime())).toBeUndefined();
  });

  test("S1.3 finds no cluster if the unreachable ones were in maintenance in this run", async () => {
    const own = { ...credentials, ca: "the ca of a first run" };
    const [one, other] = ["cp-1", "cp-2"].map((node) => fake.add(node));
    const of = (node: string, peer: string) => ({ ...newcomer(node, "controlplane", peer), credentials: own });
    expect(await LivingCluster.find(of("cp-1", "cp-2"), fake.inRealTime())).toBeUndefined();
    // It is installing.
    if (one !== undefined) one.kind = "unreachable";
    expect(await LivingCluster.find(of("cp-2", "cp-1"), fake.inRealTime())).toBeUndefined();
    expect(other?.calls).toEqual([]);
  });

  test("that replaces a control plane together with another has both old members removed first, without waiting for each other [C13]", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3", "cp-4", "cp-5"], first, "cp-2", "cp-3");
    fake.add("cp-5");
    await comes(newcomer("cp-4", "controlplane", first, "cp-2", "cp-3", "cp-5"));
    expect(cp?.calls).toEqual(["remove cp-4", "remove cp-5"]);
  });

  test("is refused if the others are too few for a second replacement", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3", "cp-4"], first, "cp-2");
    fake.add("cp-3");
    const made = comes(newcomer("cp-4", "controlplane", first, "cp-2", "cp-3"));
    await expect(made).rejects.toMatchObject({ code: "SLU-L101" });
    expect(cp?.calls).toEqual([]);
  });

  test("that replaces a control plane has the old member removed first, by members that keep the quorum without it [C13]", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3"], first, "cp-2");
    await comes(newcomer("cp-3", "controlplane", first, "cp-2"));
    expect(cp?.calls).toEqual(["remove cp-3"]);
  });

  test("is refused if they would not keep the quorum, and nothing is changed [C35]", async () => {
    const [cp] = cluster([first, "cp-2", "cp-3"], first);
    fake.add("cp-2").kind = "unreachable";
    const made = comes(newcomer("cp-3", "controlplane", first, "cp-2"));
    await expect(made).rejects.toMatchObject({
      code: "SLU-L101",
      seen: expect.stringContaining("unhealthy: cp-2, cp-3"),
    });
    expect(cp?.calls).toEqual([]);
  });

  test("waits as an additional control plane until every member is healthy (S1.3)", async () => {
    cluster([first, "cp-2"], first);
    fake.add("cp-2").kind = "unreachable";
    const made = comes(newcomer("cp-3", "controlplane", first, "cp-2"), 1);
    await expect(made).rejects.toMatchObject({ code: "SLU-T321", seen: expect.stringContaining("unhealthy: cp-2") });
  });

  test("joins as a worker whatever the state of etcd", async () => {
    const [cp] = cluster([first, "cp-2"], first);
    fake.add("cp-2").kind = "unreachable";
    await comes(newcomer("w-1", "worker", first, "cp-2"), 1);
    expect(cp?.calls).toEqual([]);
  });

  test("has the old machine's Node object deleted, which would keep the old provider id", async () => {
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

  test("continues if no API lists Node objects, because a later gate checks them", async () => {
    cluster([first], first);
    await fake.api.stop();
    await expect(comes(newcomer("w-1", "worker", first))).resolves.toBeUndefined();
    await fake.api.start();
  });
});

test("a control plane has joined when the other members see it as a voter", async () => {
  const [cp] = cluster([first], first);
  const found = await LivingCluster.find(newcomer("cp-2", "controlplane", first), fake.inRealTime());
  const joined = found?.waitUntilJoined(systemClock.now() + 5_000);
  setTimeout(() => {
    if (cp !== undefined) cp.members = [first, "cp-2"];
  }, 300);
  await joined;
  expect(fake.said).toContain("cp-2 is not a member of etcd yet");
});
