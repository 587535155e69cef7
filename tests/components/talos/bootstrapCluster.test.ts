import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { type BootstrapInputs, operations } from "../../../components/talos/bootstrapCluster.ts";
import { config, credentials, FakeWorld, refusal, unavailable } from "./fakeNodes.ts";

const names = ["cp-1", "cp-2", "cp-3"];
const inputs: BootstrapInputs = {
  controlPlanes: names.map((node) => ({ node, endpoint: node, machineId: `machine of ${node}` })),
  credentials,
  deadline: 120,
  row: "the urn",
};

/** Three control planes that have their config, and no etcd yet. */
function cluster(): FakeWorld {
  const world = new FakeWorld();
  for (const name of names) world.add(name).runs(config({}, "controlplane"));
  return world;
}

const calls = (world: FakeWorld) => names.map((name) => world.nodes.get(name)?.calls);
const node = (world: FakeWorld, name: string) => {
  const found = world.nodes.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const failure = (made: Promise<unknown>) =>
  made.then(
    () => "it succeeded",
    ({ message }: Error) => message,
  );
const raise = (error: Error) => () => {
  throw error;
};

describe("the bootstrap of a cluster", () => {
  test("S2.6 is called once, on the first control plane, and done when etcd is healthy there", async () => {
    const world = cluster();
    expect(await operations.create(inputs, world)).toEqual({
      id: "bootstrap",
      outs: { ...inputs, bootstrapped: true },
    });
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test.each(names)("S1.6 is done already when etcd is on %s", async (name) => {
    const world = cluster();
    node(world, name).etcd = { state: "Running", healthy: true };
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([[], [], []]);
  });

  test("S1.7(8) of before that got no further than its first data is gone on with", async () => {
    const world = cluster();
    node(world, "cp-1").fail("bootstrap", raise(refusal(status.ALREADY_EXISTS, "etcd data directory is not empty")));
    world.clock.after(5000, () => {
      node(world, "cp-1").etcd = { state: "Running", healthy: true };
      node(world, "cp-1").changed();
    });
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test("S2.6 waits while it is not available yet", async () => {
    const world = cluster();
    const early = raise(refusal(status.FAILED_PRECONDITION, "bootstrap is not available yet"));
    node(world, "cp-1").fail("bootstrap", early, early);
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([["bootstrap", "bootstrap", "bootstrap"], [], []]);
  });

  test("S1.7(1) S1.7(6) is tried again when the node is lost between the look and the call", async () => {
    const world = cluster();
    node(world, "cp-1").fail("bootId", raise(unavailable()), raise(unavailable()));
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(7) is called as soon as a service has come up, and not when it is asked for the next time", async () => {
    const world = cluster();
    const first = node(world, "cp-1");
    first.cri = false;
    const heard: number[] = [];
    first.fail(
      "bootstrap",
      ...Array.from({ length: 20 }, () => () => {
        heard.push(world.clock.now());
        if (!first.cri) throw refusal(status.FAILED_PRECONDITION, "bootstrap is not available yet");
      }),
    );
    world.clock.after(10_000, () => {
      first.cri = true;
      first.changed();
    });
    await operations.create(inputs, world);
    expect(heard.at(-1)).toBeLessThan(10_100);
    expect(heard.length).toBeLessThan(12);
  });

  test("S2.6 takes an etcd that has not begun for none", async () => {
    const world = cluster();
    for (const name of names) node(world, name).etcd = { state: "Initialized", healthy: false };
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(8) is not called again when it was heard though the answer was lost", async () => {
    const world = cluster();
    node(world, "cp-1").fail("bootstrap", () => {
      node(world, "cp-1").etcd = { state: "Running", healthy: true };
      throw unavailable();
    });
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(3) is called again when the node went down before etcd had written anything, and not while it is in the same boot", async () => {
    const world = cluster();
    const first = node(world, "cp-1");
    const heard: number[] = [];
    first.heeds = () => heard.push(world.clock.now()) > 1;
    world.clock.after(20_000, () => first.restart());
    await operations.create(inputs, world);
    expect(calls(world)).toEqual([["bootstrap", "bootstrap"], [], []]);
    expect(heard[1]).toBeGreaterThan(23_000);
    expect(heard[1]).toBeLessThan(35_000);
  });

  test("is not called again for those that stay while etcd is on one that leaves", async () => {
    const world = cluster();
    node(world, "cp-3").etcd = { state: "Running", healthy: true };
    const news = { ...inputs, controlPlanes: inputs.controlPlanes.slice(0, 1) };
    expect(await operations.update({ ...inputs, bootstrapped: true }, news, world)).toEqual({
      outs: { ...news, bootstrapped: true },
    });
    expect(calls(world)).toEqual([[], [], []]);
  });

  test("S1.7(9) is not called while it is not known of every control plane that it has no etcd", async () => {
    const world = cluster();
    node(world, "cp-3").kind = "unreachable";
    const message = await failure(operations.create(inputs, world));
    expect(message).toMatch(/SLU-T204[\s\S]*cp-3, not known to have no etcd, after 0 tries[\s\S]*cp-3 is unreachable/);
    expect(calls(world)).toEqual([[], [], []]);
    expect(world.clock.now()).toBeLessThanOrEqual(120_000);
  });

  test("S2.6 ends at once on a node that can have no etcd", async () => {
    const world = cluster();
    const words = "bootstrap is only available on control plane nodes";
    node(world, "cp-1").fail("bootstrap", raise(refusal(status.UNIMPLEMENTED, words)));
    expect(await failure(operations.create(inputs, world))).toMatch(/SLU-T205[\s\S]*cp-1, without etcd, after 1 try/);
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(9) ends with the node's name when etcd does not come up", async () => {
    const world = cluster();
    node(world, "cp-1").etcd = { state: "Failed", healthy: false };
    const message = await failure(operations.create(inputs, world));
    expect(message).toMatch(/SLU-T207[\s\S]*cp-1, etcd is on cp-1 already/);
    expect(calls(world)).toEqual([[], [], []]);
  });
});

describe("a cluster that was bootstrapped", () => {
  const state = { ...inputs, bootstrapped: true };

  test("S1.6 needs nothing when nothing changed, and is looked at when a control plane is another machine", () => {
    expect(operations.diff(state, { ...inputs, deadline: 1 })).toEqual({ changes: false });
    const [first, ...rest] = inputs.controlPlanes;
    const controlPlanes = [{ node: "cp-1", endpoint: "cp-1", ...first, machineId: "another" }, ...rest];
    expect(operations.diff(state, { ...inputs, controlPlanes })).toEqual({ changes: true });
    expect(operations.diff({ ...state, bootstrapped: false }, inputs)).toEqual({ changes: true });
  });

  test("S1.7(8) is not bootstrapped again while its members reboot", async () => {
    const world = cluster();
    world.clock.after(20_000, () => {
      for (const name of names) node(world, name).etcd = { state: "Running", healthy: true };
    });
    await operations.update({ ...inputs, bootstrapped: true }, inputs, world);
    expect(calls(world)).toEqual([[], [], []]);
  });

  test("S4.7 is bootstrapped again when all of it is new", async () => {
    const world = cluster();
    await operations.update({ ...inputs, bootstrapped: true }, inputs, world);
    expect(calls(world)).toEqual([["bootstrap"], [], []]);
  });

  test("U3 is found gone on refresh only when every control plane says so", async () => {
    const world = cluster();
    expect(await operations.read("id", state, world)).toEqual({ id: "id", props: { ...state, bootstrapped: false } });
    expect(world.noted).toHaveLength(1);
    node(world, "cp-2").kind = "unreachable";
    expect(await operations.read("id", state, world)).toEqual({ id: "id", props: state });
    node(world, "cp-2").kind = "ours";
    node(world, "cp-3").etcd = { state: "Running", healthy: true };
    expect(await operations.read("id", state, world)).toEqual({ id: "id", props: state });
  });

  test("U3 stays in the state when nothing answers, within five seconds", async () => {
    const world = cluster();
    const { clock, report, note, chance } = world;
    const access = { ...world.access, probe: () => new Promise<never>(() => undefined) };
    const began = clock.now();
    expect(await operations.read("id", state, { access, clock, report, note, chance })).toEqual({
      id: "id",
      props: state,
    });
    expect(clock.now() - began).toBe(5000);
  });
});
