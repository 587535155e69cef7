import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { configureNode, type NodeTarget } from "../../../../components/talos/nodes/configureNode.ts";
import { standardRetry } from "../../../../components/waiting/retry.ts";
import {
  config,
  credentials,
  everythingSaid,
  type FakeNode,
  FakeWorld,
  failure,
  raise,
  refusal,
  unavailable,
} from "../fakeNodes.ts";

const wanted = config({ sysctls: { a: "1" } });
const rebooting = config({ env: { A: "MARKER of an environment" } });

let clusters = 0;
/** Turns are kept for each cluster, so every test has its own. */
const ownCredentials = () => ({ ...credentials, ca: `ca ${clusters}` });
afterEach(() => {
  clusters += 1;
});

function target(node: string, changes: Partial<NodeTarget> = {}): NodeTarget {
  return {
    node,
    role: "worker",
    talosAddress: node,
    address: node,
    peers: [],
    machineConfiguration: wanted,
    credentials: ownCredentials(),
    identity: {},
    retry: standardRetry,
    deadlineSeconds: 300,
    ...changes,
  };
}

describe("control planes that join a running cluster", () => {
  test("S1.3 S4.2 get their configs one at a time, the second when the first is a voter", async () => {
    const context = new FakeWorld();
    const first = context.add("cp-1").runs(config({}, "controlplane"));
    first.etcd = { state: "Running", healthy: true };
    first.members = ["cp-1"];
    const told: string[] = [];
    const joins = (name: string) => {
      const node = context.add(name);
      const boot = node.boot.bind(node);
      node.boot = () => {
        told.push(`${name} has its config`);
        boot();
        context.clock.after(30_000, () => {
          told.push(`${name} votes`);
          first.members = [...first.members, name];
          node.etcd = { state: "Running", healthy: true };
          node.members = first.members;
        });
      };
    };
    for (const name of ["cp-2", "cp-3"]) joins(name);
    const peer = (name: string) => ({ name, address: name, talosAddress: name });
    await Promise.all(
      ["cp-2", "cp-3"].map((name) => {
        const peers = ["cp-1", "cp-2", "cp-3"].filter((other) => other !== name).map(peer);
        return configureNode(
          target(name, { role: "controlplane", peers, machineConfiguration: config({}, "controlplane") }),
          context,
        );
      }),
    );
    const [one, other] = told[0] === "cp-2 has its config" ? ["cp-2", "cp-3"] : ["cp-3", "cp-2"];
    expect(told).toEqual([`${one} has its config`, `${one} votes`, `${other} has its config`, `${other} votes`]);
  });
});

describe("a node that has no config", () => {
  test("S0.2 gets one in maintenance, and is done when it runs it", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    expect(await configureNode(target("w-1"), context)).toEqual({
      did: "joined",
      attempts: 1,
      version: "1.13.8",
      schematic: "the-schematic",
      stage: "running",
    });
    expect(node.calls).toEqual(["apply AUTO"]);
    expect(node.running).toBe(wanted);
  });

  test("S1.2 is called again after 3 and 6 seconds when the call fails transiently", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").fail("apply", raise(unavailable()), raise(unavailable()));
    expect(await configureNode(target("w-1"), context)).toMatchObject({
      ...{ did: "joined", attempts: 3, lastError: "SLU-T107" },
    });
    expect(node.calls).toEqual(["apply AUTO", "apply AUTO", "apply AUTO"]);
    expect(context.said).toContain("attempt 1 failed: Connection dropped; retrying in 3.0 s");
    expect(context.said).toContain("attempt 2 failed: Connection dropped; retrying in 6.0 s");
  });

  test.each([
    ["w-1", "it waits for its certificate, from a control plane, in stage booting"],
    ["cp-1", "it makes its certificate, in stage booting"],
  ])("S1.4 that has taken its config is waited for with a reason of its role: %s", async (name, reason) => {
    const context = new FakeWorld();
    const node = context.add(name);
    node.kind = "settling";
    context.clock.after(1000, () => {
      node.kind = "maintenance";
    });
    const role = name === "w-1" ? "worker" : "controlplane";
    await configureNode(target(name, { role }), context);
    expect(context.said).toContain(reason);
  });

  test("S5.5 that waits for a certificate fails as soon as no control plane can issue it: they lost their configs", async () => {
    const context = new FakeWorld();
    const [worker, first] = [context.add("w-1"), context.add("cp-1").runs(config({}, "controlplane"))];
    worker.boot = () => {
      worker.kind = "settling";
    };
    context.clock.after(30_000, () => {
      first.kind = "maintenance";
    });
    const peers = [{ name: "cp-1", address: "cp-1", talosAddress: "cp-1" }];
    expect(await failure(configureNode(target("w-1", { peers }), context))).toMatch(
      /SLU-T215 .*where: +w-1, .*which a control plane issues, and cp-1 is in maintenance, without a config/s,
    );
    expect(context.clock.now()).toBeLessThan(60_000);
  });

  test("S2.6 S1.7(4) that is reached by a name missing from its certificate fails with that, and not with the deadline", async () => {
    const context = new FakeWorld();
    context.add("w-1").kind = "invalid";
    const message = await failure(configureNode(target("w-1"), context));
    expect(message).toMatch(/^SLU-T111 .*w-1, invalid, after 1 attempt.*valid for another name.*certSANs/s);
    expect(context.clock.now()).toBeLessThan(10_000);
  });

  test("S1.7(4) continues when its certificate has the name a moment later", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    node.kind = "invalid";
    context.clock.after(3000, () => {
      node.kind = "maintenance";
    });
    expect(await configureNode(target("w-1"), context)).toMatchObject({ did: "joined", attempts: 1 });
  });

  test("S1.7(4) whose clock is wrong is waited for, and fails with that", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    node.kind = "invalid";
    node.invalid = "time";
    const message = await failure(configureNode(target("w-1", { deadlineSeconds: 60 }), context));
    expect(message).toMatch(/^SLU-T112 .*valid for another time.*clock/s);
    expect(context.clock.now()).toBeGreaterThan(50_000);
  });

  test("S1.7(3) that accepted the config while the answer was lost is not sent it twice", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    node.fail("apply", () => {
      node.runs(wanted);
      throw unavailable();
    });
    expect(await configureNode(target("w-1"), context)).toMatchObject({ attempts: 2 });
    expect(node.calls).toEqual(["apply AUTO"]);
  });

  test("S1.7(3) that crashes before it has written it is sent it again", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    node.fail("apply", () => {
      node.kind = "unreachable";
      context.clock.after(40_000, () => {
        node.kind = "maintenance";
      });
      throw unavailable();
    });
    expect(await configureNode(target("w-1"), context)).toMatchObject({ did: "joined", attempts: 2 });
    expect(node.calls).toEqual(["apply AUTO", "apply AUTO"]);
  });

  test("S1.1 is sent nothing when it is not the expected machine [C34]", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    const message = await failure(configureNode(target("w-1", { identity: { mac: "02:00:00:00:00:02" } }), context));
    expect(message).toMatch(/SLU-T302[\s\S]*no NIC has the MAC address 02:00:00:00:00:02; there are 02:00:00:00:00:01/);
    expect(await failure(configureNode(target("w-1", { identity: { uuid: "other" } }), context))).toMatch(
      /its machine UUID is the-uuid, not other/,
    );
    expect(node.calls).toEqual([]);
  });

  test("S1.1 is the expected one in any notation of its MAC", async () => {
    const context = new FakeWorld();
    context.add("w-1").mac = "02:00:00:00:00:AB";
    const identity = { mac: "02:00:00:00:00:ab", uuid: "THE-UUID" };
    expect(await configureNode(target("w-1", { identity }), context)).toMatchObject({ did: "joined" });
  });

  test("S2.6 S1.7(10) that rejects the config is not called again, and its words are reported", async () => {
    const context = new FakeWorld();
    const words = "configuration validation failed: 1 error occurred: install.disk is missing";
    const node = context.add("w-1").fail("apply", raise(refusal(status.INVALID_ARGUMENT, words)));
    const message = await failure(configureNode(target("w-1"), context));
    expect(message).toContain("SLU-T201");
    expect(message).toContain(words);
    expect(message).toContain("w-1, maintenance, after 1 attempt");
    expect(node.calls).toEqual(["apply AUTO"]);
  });

  test("S1.7(2) whose disk selector matches nothing is reported with its disks", async () => {
    const context = new FakeWorld();
    context.add("w-1").fail("apply", raise(refusal(status.INVALID_ARGUMENT, "no disks matched the expression: x")));
    expect(await failure(configureNode(target("w-1"), context))).toMatch(/SLU-T202[\s\S]*\/dev\/sda \(80 GB/);
  });
});

describe("a node that does not answer", () => {
  test("S1.7(1) is waited for", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    node.kind = "unreachable";
    context.clock.after(60_000, () => {
      node.kind = "maintenance";
    });
    expect(await configureNode(target("w-1"), context)).toMatchObject({ did: "joined", attempts: 1 });
  });

  test("S1.7(1) fails with its name and the remedy at the deadline", async () => {
    const context = new FakeWorld();
    context.add("w-1").kind = "unreachable";
    const message = await failure(configureNode(target("w-1", { deadlineSeconds: 20 }), context));
    expect(message).toMatch(/^SLU-T102[\s\S]*where: {6}w-1, unreachable, after 1 attempt[\s\S]*what to do:/);
    expect(context.clock.now()).toBeLessThanOrEqual(20_000);
  });

  test("S1.5 is reported after the last attempt with its state, the attempts, the last error and what to do", async () => {
    const context = new FakeWorld();
    context.add("w-1").fail("apply", ...Array.from({ length: 9 }, () => raise(unavailable())));
    const message = await failure(configureNode(target("w-1"), context));
    expect(message).toMatch(
      /SLU-T107[\s\S]*w-1, maintenance, after 6 attempts[\s\S]*Connection dropped[\s\S]*what to do:/,
    );
  });
});

describe("a foreign node", () => {
  test("S0.2 is never written to", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1");
    node.kind = "foreign";
    expect(await failure(configureNode(target("w-1"), context))).toMatch(
      /SLU-T109[\s\S]*w-1, foreign, after 1 attempt/,
    );
    expect(node.calls).toEqual([]);
  });
});

describe("a node of this cluster", () => {
  test("S1.6 that already runs the config is left alone [C23]", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(`# written otherwise\n${wanted}`);
    expect(await configureNode(target("w-1"), context)).toMatchObject({ did: "nothing", attempts: 1 });
    expect(node.calls).toEqual([]);
  });

  test("S1.6 applies a difference without a reboot if Talos can [C9]", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(config());
    expect(await configureNode(target("w-1"), context)).toMatchObject({ did: "applied" });
    expect(node.calls).toEqual(["apply NO_REBOOT"]);
    expect(node.running).toBe(wanted);
  });

  test("S1.7(10) that rejects a change of its config keeps the one that it runs, and is not rebooted", async () => {
    const context = new FakeWorld();
    const words =
      "configuration validation failed: 1 error occurred: unknown keys found during decoding: machine.sysctl";
    const node = context.add("w-1").runs(config());
    const before = node.running;
    node.fail("apply", raise(refusal(status.INVALID_ARGUMENT, words)));
    const message = await failure(configureNode(target("w-1"), context));
    expect(message).toContain("SLU-T201");
    expect(message).toContain(words);
    expect([node.running, node.calls]).toEqual([before, ["apply NO_REBOOT"]]);
  });

  test("S1.6 gets a change that needs a reboot staged, and is rebooted once", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(config());
    expect(await configureNode(target("w-1", { machineConfiguration: rebooting }), context)).toMatchObject({
      did: "rebooted",
    });
    expect(node.calls).toEqual(["apply STAGED", "reboot"]);
    expect(node.running).toBe(rebooting);
  });

  test("S1.6 with a config that an earlier run staged is only rebooted [C23]", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(config());
    node.persistent = rebooting;
    expect(await configureNode(target("w-1", { machineConfiguration: rebooting }), context)).toMatchObject({
      did: "rebooted",
    });
    expect(node.calls).toEqual(["reboot"]);
  });

  /** A node that comes up slowly after its reboot: it has its config long before it is running. */
  function slow(context: FakeWorld, until: number): FakeNode {
    const node = context.add("w-1").runs(config());
    const boot = node.boot.bind(node);
    node.boot = () => {
      node.stage = "booting";
      boot();
      context.clock.after(until, () => {
        node.stage = "running";
        node.changed();
      });
    };
    return node;
  }

  test("S1.3 has rebooted when it is in its former state again: until then the next one waits", async () => {
    const context = new FakeWorld();
    slow(context, 40_000);
    expect(await configureNode(target("w-1", { machineConfiguration: rebooting }), context)).toMatchObject({
      stage: "running",
    });
    expect(context.clock.now()).toBeGreaterThan(40_000);
    expect(context.said).toContain("waits until the node is running again");
  });

  test("S1.4 that does not get there is named with its stage", async () => {
    const context = new FakeWorld();
    slow(context, 400_000);
    expect(
      await failure(configureNode(target("w-1", { machineConfiguration: rebooting, deadlineSeconds: 60 }), context)),
    ).toMatch(/^SLU-T311 .*after the reboot it is in stage booting/s);
  });

  describe("that must reboot, while the answer is lost,", () => {
    const lost: readonly (readonly [string, (node: FakeNode, context: FakeWorld) => void])[] = [
      ["and goes down at once", (node) => node.restart()],
      [
        "and takes its time to go down",
        (node, context) => {
          node.stage = "rebooting";
          context.clock.after(30_000, () => node.restart());
        },
      ],
      [
        "and is back already",
        (node) => {
          node.boots += 1;
          node.boot();
        },
      ],
      [
        "and is away for minutes",
        (node, context) => {
          node.kind = "unreachable";
          context.clock.after(150_000, () => {
            node.boots += 1;
            node.boot();
          });
        },
      ],
      [
        "and comes back without its config, which is sent again",
        (node, context) => {
          node.kind = "unreachable";
          context.clock.after(4000, () => {
            node.boots += 1;
            node.running = undefined;
            node.kind = "maintenance";
          });
        },
      ],
    ];
    test.each(lost)("S1.7(6) %s, is called once", async (_, heard) => {
      const context = new FakeWorld();
      const node = context.add("w-1").runs(config());
      node.fail("reboot", () => {
        heard(node, context);
        throw unavailable();
      });
      expect(await configureNode(target("w-1", { machineConfiguration: rebooting }), context)).toMatchObject({
        stage: "running",
      });
      expect(node.calls.filter((call) => call === "reboot")).toEqual(["reboot"]);
      expect(node.running).toBe(rebooting);
    });

    test("S1.7(6) and that did not receive the call, is called again within seconds", async () => {
      const context = new FakeWorld();
      const node = context.add("w-1").runs(config());
      node.fail("reboot", raise(unavailable()));
      expect(await configureNode(target("w-1", { machineConfiguration: rebooting }), context)).toMatchObject({
        did: "rebooted",
        attempts: 2,
      });
      expect(node.calls).toEqual(["apply STAGED", "reboot", "reboot"]);
      expect(context.clock.now()).toBeLessThan(15_000);
    });

    test("S1.7(1) and was only unreachable, is called again when it is up as before, and not while it is away", async () => {
      const context = new FakeWorld();
      const node = context.add("w-1").runs(config());
      const told: number[] = [];
      node.fail(
        "reboot",
        () => {
          told.push(context.clock.now());
          node.kind = "unreachable";
          context.clock.after(100_000, () => {
            node.kind = "ours";
          });
          throw unavailable();
        },
        () => told.push(context.clock.now()),
      );
      expect(await configureNode(target("w-1", { machineConfiguration: rebooting }), context)).toMatchObject({
        did: "rebooted",
      });
      expect(told).toHaveLength(2);
      expect(told[1]).toBeGreaterThan(103_000);
    });

    test("S1.5 and never receives the call, fails with its name and what was observed [C25]", async () => {
      const context = new FakeWorld();
      const node = context.add("w-1").runs(config());
      node.fail("reboot", ...Array.from({ length: 9 }, () => raise(unavailable())));
      expect(await failure(configureNode(target("w-1", { machineConfiguration: rebooting }), context))).toMatch(
        /SLU-T107[\s\S]*w-1, ours, after 6 attempts[\s\S]*sent the reboot call \(Connection dropped\), but is still up unchanged 3 s later/,
      );
    });
  });

  test("S1.5 is called to reboot once if the call itself is wrong, and the error is reported", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(config());
    node.fail("reboot", raise(new TypeError("x is undefined")));
    expect(await failure(configureNode(target("w-1", { machineConfiguration: rebooting }), context))).toMatch(
      /SLU-T108[\s\S]*after 1 attempt[\s\S]*x is undefined/,
    );
    expect(node.calls).toEqual(["apply STAGED", "reboot"]);
    expect(context.clock.now()).toBe(0);
  });

  test("S4.2 with another role than expected is not written to, because its address is another node's", async () => {
    const context = new FakeWorld();
    const node = context.add("cp-1").runs(config({}, "worker"));
    const asked = target("cp-1", { role: "controlplane", machineConfiguration: config({}, "controlplane") });
    expect(await failure(configureNode(asked, context))).toMatch(
      /SLU-T302[\s\S]*it runs as worker, but should be control/,
    );
    expect(node.calls).toEqual([]);
  });

  test("S1.7(5) that does not come back fails with its name, within the deadline [C33]", async () => {
    const context = new FakeWorld();
    const node = context.add("w-1").runs(config());
    node.boot = () => undefined;
    const message = await failure(
      configureNode(target("w-1", { machineConfiguration: rebooting, deadlineSeconds: 100 }), context),
    );
    expect(message).toMatch(/SLU-T206[\s\S]*w-1, unreachable, after 1 attempt/);
    expect(context.clock.now()).toBeLessThanOrEqual(101_000);
  });
});

describe("control planes that are bootstrapped", () => {
  const names = ["cp-1", "cp-2", "cp-3"];
  const before = config({}, "controlplane");
  const after = config({ env: { A: "1" } }, "controlplane");

  function cluster(): FakeWorld {
    const context = new FakeWorld();
    for (const name of names) {
      const node = context.add(name).runs(before);
      node.etcd = { state: "Running", healthy: true };
      node.members = names;
    }
    return context;
  }
  const change = (context: FakeWorld, name: string, changes: Partial<NodeTarget> = {}) =>
    configureNode(target(name, { role: "controlplane", machineConfiguration: after, ...changes }), context);

  test("S1.3 are changed one at a time, with etcd healthy in between [C9]", async () => {
    const context = cluster();
    const away: number[] = [];
    for (const node of context.nodes.values()) {
      const boot = node.boot.bind(node);
      node.boot = () => {
        away.push([...context.nodes.values()].filter(({ kind, etcd }) => kind !== "ours" || !etcd.healthy).length);
        node.etcd = { state: "Running", healthy: false };
        boot();
        context.clock.after(4000, () => {
          node.etcd = { state: "Running", healthy: true };
          node.changed();
        });
      };
    }
    await Promise.all(names.map((name) => change(context, name)));
    expect(away).toEqual([1, 1, 1]);
    for (const { calls } of context.nodes.values()) expect(calls).toEqual(["apply STAGED", "reboot"]);
  });

  test("S1.7(9) are not rebooted while another member is unhealthy [C9]", async () => {
    const context = cluster();
    const ill = context.nodes.get("cp-3");
    if (ill !== undefined) ill.etcd = { state: "Running", healthy: false };
    expect(await failure(change(context, "cp-1", { deadlineSeconds: 30 }))).toMatch(
      /SLU-T321[\s\S]*etcd on cp-3 is not healthy/,
    );
    expect(context.nodes.get("cp-1")?.calls).toEqual([]);
  });

  test("S1.3 are left alone when one before them failed", async () => {
    const context = cluster();
    const first = context.nodes.get("cp-1");
    first?.fail("trial", raise(refusal(status.INVALID_ARGUMENT, "no such field")));
    const ends = await Promise.all(["cp-1", "cp-2"].map((name) => failure(change(context, name))));
    expect(ends[0]).toMatch(/SLU-T201[\s\S]*no such field/);
    expect(ends[1]).toMatch(/not changed, because another control plane failed: cp-1: no such field/);
    expect(context.nodes.get("cp-2")?.calls).toEqual([]);
  });

  test("S1.3 do not wait for each other before bootstrap", async () => {
    const context = cluster();
    for (const node of context.nodes.values()) node.etcd = { state: "Preparing", healthy: false };
    await Promise.all(names.map((name) => change(context, name)));
    expect(context.said).not.toContain("waits for its turn: control planes are changed one at a time");
  });
});

test("S1.5 no message about a node contains a secret of its config", async () => {
  const context = new FakeWorld();
  context.add("w-1").runs(config());
  context.add("w-2").fail("apply", raise(refusal(status.INVALID_ARGUMENT, "refused")));
  await configureNode(target("w-1", { machineConfiguration: rebooting }), context);
  const message = await failure(configureNode(target("w-2", { machineConfiguration: rebooting }), context));
  expect(everythingSaid(context, message)).not.toContain("MARKER");
});
