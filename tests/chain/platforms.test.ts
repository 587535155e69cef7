// What holds on every platform alike: one cluster, from nothing, through a change of its nodes, to nothing.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain, type Run } from "../lab/support/chain.ts";
import type { Platform } from "../lab/support/chainEnvironment.ts";

jest.setTimeout(420_000);

/** Where the worker is that comes and goes. */
const another = { hetzner: "10.0.1.22", proxmox: "10.0.0.22", existing: "10.0.0.22" } as const;

describe.each<Platform>(["hetzner", "proxmox", "existing"])("a control plane and a worker, platform %s", (platform) => {
  const added = { name: "w-2", role: "worker", address: another[platform] };
  let chain: Chain;
  let up: Run;
  beforeAll(async () => {
    chain = await Chain.of({ platform, workers: 1, spares: [added] });
    up = await chain.up();
  });
  afterAll(() => chain?.down());

  const nodes = async () => {
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    return (await chain.kubectl("get", "nodes", "--output", "name")).trim().split("\n");
  };

  test("go from nothing to what Flux reconciles (S3.1, S4.7)", async () => {
    expect(up.code).toBe(0);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
    const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];
    expect(await chain.kubectl(...greeting)).not.toBe("");
    expect(await chain.outputs()).toMatchObject({ gitOpsRevision: expect.stringMatching(/^main@sha1:[0-9a-f]{40}$/) });
  });

  test("are found as they were, and left alone by an update with nothing to do (S1.6, U3)", async () => {
    expect(await chain.run("refresh", "--expect-no-changes")).toMatchObject({ code: 0, steps: [] });
    expect((await chain.up()).steps).toEqual([]);
  });

  test("are joined by a worker whose line is added, and not touched (S4.2)", async () => {
    chain.addNode(added);
    const { steps } = await chain.up();
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1", "node/w-2"]);
    const touched = steps.filter(({ name }) => /-(cp-1|w-1)$/.test(name));
    expect(touched).toEqual([]);
  });

  test("are as before when its line is deleted: it is drained, reset and gone (S4.2)", async () => {
    const seen = chain.lab.facts.all.length;
    chain.removeNode("w-2");
    const { steps } = await chain.up();
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
    expect(steps.filter(({ name }) => /-(cp-1|w-1)$/.test(name))).toEqual([]);
    const calls = chain.lab.facts.all.slice(seen).filter(({ what }) => what === "call");
    const reset = calls.filter(({ value }) => value === "Reset").map(({ subject }) => subject);
    expect(reset).toEqual([expect.stringMatching(/w-2$/)]);
  });

  test("are gone when they are destroyed (S4.7)", async () => {
    expect(await chain.run("destroy")).toMatchObject({ code: 0 });
    expect(await chain.resources()).toEqual([]);
  });
});
