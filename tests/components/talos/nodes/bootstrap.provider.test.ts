import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import { type BootstrapInputs, operations } from "../../../../components/talos/nodes/bootstrap.provider.ts";
import { config, credentials, FakeWorld, failure, raise, refusal, unavailable } from "../fakeNodes.ts";

const names = ["cp-1", "cp-2", "cp-3"];
const inputs: BootstrapInputs = {
  controlPlanes: names.map((name) => ({ name, talosAddress: name, machineId: `machine of ${name}` })),
  credentials,
  deadlineSeconds: 120,
  row: "the urn",
};

/** Three control planes that have their config, and no etcd yet. */
function cluster(): FakeWorld {
  const context = new FakeWorld();
  for (const name of names) context.add(name).runs(config({}, "controlplane"));
  return context;
}

const calls = (context: FakeWorld) => names.map((name) => context.nodes.get(name)?.calls);

describe("the adoption of a cluster (S7.2)", () => {
  test.each(names)("bootstraps nothing if etcd is on %s", async (name) => {
    const context = cluster();
    context.node(name).etcd = { state: "Running", healthy: true };
    expect(await operations.create({ ...inputs, adopts: true }, context)).toEqual({ ...inputs, bootstrapped: true });
    expect(calls(context)).toEqual([[], [], []]);
  });

  test("is refused if no control plane has an etcd, and bootstraps nothing", async () => {
    const context = cluster();
    expect(await failure(operations.create({ ...inputs, adopts: true }, context))).toMatch(
      /^SLU-A101 [\s\S]*seen: +no control plane has an etcd\n/,
    );
    expect(calls(context)).toEqual([[], [], []]);
  });
});

describe("the bootstrap of a cluster", () => {
  test("S2.6 is called once, on the first control plane, and done when etcd is healthy there [C6]", async () => {
    const context = cluster();
    expect(await operations.create(inputs, context)).toEqual({ ...inputs, bootstrapped: true });
    expect(calls(context)).toEqual([["bootstrap"], [], []]);
  });

  test.each(names)("S1.6 is already done when etcd is on %s", async (name) => {
    const context = cluster();
    context.node(name).etcd = { state: "Running", healthy: true };
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([[], [], []]);
  });

  test("S1.7(8) is resumed if an earlier one got no further than its first data", async () => {
    const context = cluster();
    context.node("cp-1").fail("bootstrap", () => {
      context.node("cp-1").etcd.data = true;
      throw refusal(status.ALREADY_EXISTS, "etcd data directory is not empty");
    });
    context.clock.after(5000, () => {
      context.node("cp-1").etcd = { state: "Running", healthy: true };
      context.node("cp-1").changed();
    });
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["bootstrap"], [], []]);
  });

  test("S2.6 waits while it is not possible yet", async () => {
    const context = cluster();
    const early = raise(refusal(status.FAILED_PRECONDITION, "bootstrap is not available yet"));
    context.node("cp-1").fail("bootstrap", early, early);
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["bootstrap", "bootstrap", "bootstrap"], [], []]);
  });

  test("S1.7(1) S1.7(6) is retried when the node is lost between the check and the call", async () => {
    const context = cluster();
    context.node("cp-1").fail("bootId", raise(unavailable()), raise(unavailable()));
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(7) is called as soon as a service has come up, and not at the next poll", async () => {
    const context = cluster();
    const first = context.node("cp-1");
    first.cri = false;
    first.etcd = { state: "Waiting", healthy: false, message: 'Waiting for service "cri" to be "up"' };
    const heard: number[] = [];
    first.fail(
      "bootstrap",
      ...Array.from({ length: 20 }, () => () => {
        heard.push(context.clock.now());
        if (!first.cri) throw refusal(status.FAILED_PRECONDITION, "bootstrap is not available yet");
      }),
    );
    context.clock.after(10_000, () => {
      first.cri = true;
      first.etcd = { state: "Preparing", healthy: false };
      first.changed();
    });
    await operations.create(inputs, context);
    expect(heard.at(-1)).toBeLessThan(10_100);
    expect(heard).toHaveLength(1);
  });

  test("S1.7(8) is not called again when the call arrived and only the answer was lost", async () => {
    const context = cluster();
    context.node("cp-1").fail("bootstrap", () => {
      context.node("cp-1").etcd = { state: "Running", healthy: true };
      throw unavailable();
    });
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(3) is called again when the node went down before etcd had written anything, and not while it is in the same boot", async () => {
    const context = cluster();
    const first = context.node("cp-1");
    const heard: number[] = [];
    first.heeds = () => heard.push(context.clock.now()) > 1;
    context.clock.after(20_000, () => first.restart());
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["bootstrap", "bootstrap"], [], []]);
    expect(heard[1]).toBeGreaterThan(23_000);
    expect(heard[1]).toBeLessThan(35_000);
  });

  test("is not called again for those that stay while etcd is on one that leaves", async () => {
    const context = cluster();
    context.node("cp-3").etcd = { state: "Running", healthy: true };
    const news = { ...inputs, controlPlanes: inputs.controlPlanes.slice(0, 1) };
    expect(await operations.update({ ...inputs, bootstrapped: true }, news, context)).toEqual({
      ...news,
      bootstrapped: true,
    });
    expect(calls(context)).toEqual([[], [], []]);
  });

  test("S1.7(9) is not called until every control plane is known to have no etcd [C6]", async () => {
    const context = cluster();
    context.node("cp-3").kind = "unreachable";
    const message = await failure(operations.create(inputs, context));
    expect(message).toMatch(
      /SLU-T204[\s\S]*cp-3, not known to have no etcd, after 0 attempts[\s\S]*it is unreachable: no answer/,
    );
    expect(calls(context)).toEqual([[], [], []]);
    expect(context.clock.now()).toBeLessThanOrEqual(120_000);
  });

  test("S2.6 fails at once on a node that cannot run etcd", async () => {
    const context = cluster();
    const words = "bootstrap is only available on control plane nodes";
    context.node("cp-1").fail("bootstrap", raise(refusal(status.UNIMPLEMENTED, words)));
    expect(await failure(operations.create(inputs, context))).toMatch(
      /SLU-T205[\s\S]*cp-1, without etcd, after 1 attempt/,
    );
    expect(calls(context)).toEqual([["bootstrap"], [], []]);
  });

  test("S1.7(9) fails with the node's name when etcd does not come up", async () => {
    const context = cluster();
    context.node("cp-1").etcd = { state: "Failed", healthy: false, data: true, message: "its disk is full" };
    const message = await failure(operations.create(inputs, context));
    expect(message).toMatch(/SLU-T207[\s\S]*cp-1, with an etcd[\s\S]*etcd is Failed: its disk is full/);
    expect(calls(context)).toEqual([[], [], []]);
  });
});

describe("a bootstrap whose call had another end", () => {
  test.each([
    { state: "Failed", message: "Failed to run pre stage: context canceled" },
    { state: "Finished", message: "Service finished successfully" },
  ])("S5.1 is called again if the call was cancelled, ten seconds after etcd became $state", async (left) => {
    const context = cluster();
    const first = context.node("cp-1");
    const heard: number[] = [];
    first.fail(
      "bootstrap",
      () => {
        first.etcd = { ...left, healthy: false };
        throw unavailable();
      },
      () => void heard.push(context.clock.now()),
    );
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["bootstrap", "bootstrap"], [], []]);
    expect(heard[0]).toBeGreaterThanOrEqual(10_000);
    expect(heard[0]).toBeLessThan(14_000);
    expect(context.said).toContain(`bootstraps etcd on cp-1 again: etcd is ${left.state}: ${left.message}`);
  });

  test("S5.1 is not called by a second run while the etcd of the first pulls its image, and shows the pull", async () => {
    const context = cluster();
    const first = context.node("cp-1");
    first.etcd = { state: "Preparing", healthy: false, startedMs: 10 };
    first.images = [];
    first.log.push("[talos] retrying error: failed to pull image registry/etcd:v1: no such host");
    context.clock.after(100_000, () => {
      first.etcd = { state: "Running", healthy: true };
      first.changed();
    });
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([[], [], []]);
    expect(context.said).toEqual([
      "cp-1: etcd is Preparing: retrying error: failed to pull image registry/etcd:v1: no such host",
    ]);
  });

  test("S5.1 fails with Talos' words for a pull that never ends", async () => {
    const context = cluster();
    const first = context.node("cp-1");
    Object.assign(first, {
      images: [],
      log: ["[talos] retrying error: failed to pull image registry/etcd:v1: no such host"],
    });
    first.heeds = () => false;
    expect(await failure(operations.create(inputs, context))).toMatch(
      /^SLU-T218[\s\S]*after 1 attempt[\s\S]*no such host/,
    );
    expect(calls(context)).toEqual([["bootstrap"], [], []]);
  });

  const stopped = { state: "Finished", healthy: false, data: true, message: "Bootstrap requested" };

  test("S5.1 S1.7(8) is healed by one reboot if a second call stopped the etcd of the first", async () => {
    const context = cluster();
    const first = context.node("cp-1");
    first.etcd = stopped;
    context.clock.after(25_000, () => {
      first.etcd = { state: "Running", healthy: true };
      first.changed();
    });
    await operations.create(inputs, context);
    expect(calls(context)).toEqual([["reboot"], [], []]);
  });

  test("S5.1 fails with the command that helps if the etcd is stopped again after the reboot", async () => {
    const context = cluster();
    const first = context.node("cp-1");
    first.etcd = stopped;
    context.clock.after(25_000, () => {
      first.etcd = stopped;
    });
    expect(await failure(operations.create(inputs, context))).toMatch(/^SLU-T219[\s\S]*talosctl --nodes cp-1 reboot/);
    expect(calls(context)).toEqual([["reboot"], [], []]);
  });

  test("S5.1 is not healed by a reboot while another control plane may have an etcd", async () => {
    const context = cluster();
    context.node("cp-1").etcd = stopped;
    context.node("cp-3").kind = "unreachable";
    const message = await failure(operations.create(inputs, context));
    expect(message).toMatch(/^SLU-T219[\s\S]*cp-3: it is unreachable[\s\S]*talosctl --nodes cp-1 reboot/);
    expect(calls(context)).toEqual([[], [], []]);
  });
});

describe("a cluster that was bootstrapped", () => {
  const state = { ...inputs, bootstrapped: true };

  test("S1.6 needs nothing when nothing changed, and is checked when a control plane is another machine", () => {
    expect(operations.difference(state, { ...inputs, deadlineSeconds: 1 })).toEqual({ kind: "none" });
    const [first, ...rest] = inputs.controlPlanes;
    const controlPlanes = [{ name: "cp-1", talosAddress: "cp-1", ...first, machineId: "another" }, ...rest];
    expect(operations.difference(state, { ...inputs, controlPlanes })).toEqual({ kind: "update" });
    expect(operations.difference({ ...state, bootstrapped: false }, inputs)).toEqual({ kind: "update" });
    // A control plane lost its config: its etcd may have been the only one. A preview of other changes does not know.
    expect(operations.difference(state, { ...inputs, rejoined: 1 })).toEqual({ kind: "update" });
    expect(operations.difference({ ...state, rejoined: 1 }, { ...inputs, rejoined: 1 })).toEqual({ kind: "none" });
    const unknown = unknownValue as unknown as number;
    expect(operations.difference(state, { ...inputs, rejoined: unknown })).toEqual({ kind: "none" });
  });

  test("S1.7(3) S1.7(8) is not bootstrapped again while its members reboot", async () => {
    const context = cluster();
    context.clock.after(20_000, () => {
      for (const name of names) context.node(name).etcd = { state: "Running", healthy: true };
    });
    await operations.update({ ...inputs, bootstrapped: true }, inputs, context);
    expect(calls(context)).toEqual([[], [], []]);
  });

  test.each([true, false])(
    "S5.1 is not bootstrapped again when no control plane has an etcd: its loss is reported after 30 s, whether a refresh has found it (%s) or not",
    async (bootstrapped) => {
      const context = cluster();
      const began = context.clock.now();
      const message = await failure(operations.update({ ...inputs, bootstrapped }, inputs, context));
      expect(message).toMatch(/^SLU-T220 The cluster's etcd is gone/);
      expect(message).toMatch(/cp-1, cp-2, cp-3[\s\S]*no control plane has an etcd[\s\S]*--new-cluster/);
      expect((context.clock.now() - began) / 1000).toBeLessThan(40);
      expect(calls(context)).toEqual([[], [], []]);
    },
  );

  test("U3 is removed by a refresh only if every control plane reports no etcd", async () => {
    const context = cluster();
    expect(await operations.read(state, context)).toEqual({ ...state, bootstrapped: false });
    expect(context.noted).toHaveLength(1);
    context.node("cp-2").kind = "unreachable";
    expect(await operations.read(state, context)).toEqual(state);
    context.node("cp-2").kind = "ours";
    context.node("cp-3").etcd = { state: "Running", healthy: true };
    expect(await operations.read(state, context)).toEqual(state);
  });

  test("U3 stays in the state if nothing answers, within five seconds", async () => {
    const context = cluster();
    const { clock, report, note, random } = context;
    const access = { ...context.access, probe: () => new Promise<never>(() => undefined) };
    const began = clock.now();
    expect(await operations.read(state, { access, clock, report, note, random })).toEqual(state);
    expect(clock.now() - began).toBe(5000);
  });
});
