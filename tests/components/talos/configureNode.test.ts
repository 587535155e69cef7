import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "@jest/globals";
import { configureNode, type NodeTarget } from "../../../components/talos/configureNode.ts";
import { standardRetry } from "../../../components/talos/retry.ts";
import { config, credentials, everythingSaid, type FakeNode, FakeWorld, refusal, unavailable } from "./fakeNodes.ts";

const wanted = config({ sysctls: { a: "1" } });
const rebooting = config({ env: { A: "MARKER of an environment" } });

let clusters = 0;
/** Turns are kept for each cluster: every test has its own. */
const ownCredentials = () => ({ ...credentials, ca: `ca ${clusters}` });
afterEach(() => {
  clusters += 1;
});

function target(node: string, changes: Partial<NodeTarget> = {}): NodeTarget {
  return {
    node,
    role: "worker",
    endpoint: node,
    address: node,
    peers: [],
    config: wanted,
    credentials: ownCredentials(),
    identity: {},
    retry: standardRetry,
    deadline: 300,
    ...changes,
  };
}

async function failure(made: Promise<unknown>): Promise<string> {
  const error = await made.then(
    () => new Error("it succeeded"),
    (reason: Error) => reason,
  );
  return error.message;
}

describe("control planes that join a cluster which lives", () => {
  test("S1.3 S4.2 get their configs one at a time, the second when the first votes", async () => {
    const world = new FakeWorld();
    const first = world.add("cp-1").runs(config({}, "controlplane"));
    first.etcd = { state: "Running", healthy: true };
    first.members = ["cp-1"];
    const told: string[] = [];
    const joins = (name: string) => {
      const node = world.add(name);
      const boot = node.boot.bind(node);
      node.boot = () => {
        told.push(`${name} has its config`);
        boot();
        world.clock.after(30_000, () => {
          told.push(`${name} votes`);
          first.members = [...first.members, name];
          node.etcd = { state: "Running", healthy: true };
          node.members = first.members;
        });
      };
    };
    for (const name of ["cp-2", "cp-3"]) joins(name);
    const peer = (node: string) => ({ node, address: node, endpoint: node });
    await Promise.all(
      ["cp-2", "cp-3"].map((name) => {
        const peers = ["cp-1", "cp-2", "cp-3"].filter((other) => other !== name).map(peer);
        return configureNode(target(name, { role: "controlplane", peers, config: config({}, "controlplane") }), world);
      }),
    );
    const [one, other] = told[0] === "cp-2 has its config" ? ["cp-2", "cp-3"] : ["cp-3", "cp-2"];
    expect(told).toEqual([`${one} has its config`, `${one} votes`, `${other} has its config`, `${other} votes`]);
  });
});

describe("a node that has no config", () => {
  test("S0.2 gets it in maintenance, and is done when it runs it", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    expect(await configureNode(target("w-1"), world)).toEqual({
      did: "applied",
      attempts: 1,
      version: "1.13.8",
      schematic: "the-schematic",
      stage: "running",
    });
    expect(node.calls).toEqual(["apply AUTO"]);
    expect(node.running).toBe(wanted);
  });

  test("S1.2 is tried again after 3 and 6 seconds when the call fails in passing", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").fail("apply", raise(unavailable()), raise(unavailable()));
    expect(await configureNode(target("w-1"), world)).toMatchObject({
      ...{ did: "applied", attempts: 3, lastError: "SLU-T107" },
    });
    expect(node.calls).toEqual(["apply AUTO", "apply AUTO", "apply AUTO"]);
    expect(world.said).toContain("try 1 failed: Connection dropped; again in 3.0 s");
    expect(world.said).toContain("try 2 failed: Connection dropped; again in 6.0 s");
  });

  test("S2.6 S1.7(4) that is reached by a name which its certificate lacks ends with that, and not with the deadline", async () => {
    const world = new FakeWorld();
    world.add("w-1").kind = "invalid";
    const message = await failure(configureNode(target("w-1"), world));
    expect(message).toMatch(/^SLU-T111 .*w-1, invalid, after 1 try.*valid for another name.*certSANs/s);
    expect(world.clock.now()).toBeLessThan(10_000);
  });

  test("S1.7(4) whose certificate has the name a moment later is gone on with", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    node.kind = "invalid";
    world.clock.after(3000, () => {
      node.kind = "maintenance";
    });
    expect(await configureNode(target("w-1"), world)).toMatchObject({ did: "applied", attempts: 1 });
  });

  test("S1.7(4) whose clock is wrong is waited for, and ends with that", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    node.kind = "invalid";
    node.invalid = "time";
    const message = await failure(configureNode(target("w-1", { deadline: 60 }), world));
    expect(message).toMatch(/^SLU-T112 .*valid for another time.*clock/s);
    expect(world.clock.now()).toBeGreaterThan(50_000);
  });

  test("S1.7(3) that took the config though the answer was lost is not sent it twice", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    node.fail("apply", () => {
      node.runs(wanted);
      throw unavailable();
    });
    expect(await configureNode(target("w-1"), world)).toMatchObject({ attempts: 2 });
    expect(node.calls).toEqual(["apply AUTO"]);
  });

  test("S1.7(3) that crashes before it has written it is sent it again", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    node.fail("apply", () => {
      node.kind = "unreachable";
      world.clock.after(40_000, () => {
        node.kind = "maintenance";
      });
      throw unavailable();
    });
    expect(await configureNode(target("w-1"), world)).toMatchObject({ did: "applied", attempts: 2 });
    expect(node.calls).toEqual(["apply AUTO", "apply AUTO"]);
  });

  test("S1.1 is sent nothing when it is another machine than the one meant", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    const message = await failure(configureNode(target("w-1", { identity: { mac: "02:00:00:00:00:02" } }), world));
    expect(message).toMatch(/SLU-T302[\s\S]*no NIC has the MAC address 02:00:00:00:00:02; there are 02:00:00:00:00:01/);
    expect(await failure(configureNode(target("w-1", { identity: { uuid: "other" } }), world))).toMatch(
      /its machine UUID is the-uuid, not other/,
    );
    expect(node.calls).toEqual([]);
  });

  test("S1.1 is the one meant however its MAC is written", async () => {
    const world = new FakeWorld();
    world.add("w-1").mac = "02:00:00:00:00:AB";
    const identity = { mac: "02:00:00:00:00:ab", uuid: "THE-UUID" };
    expect(await configureNode(target("w-1", { identity }), world)).toMatchObject({ did: "applied" });
  });

  test("S2.6 S1.7(10) that refuses the config is not asked again, and its words are told", async () => {
    const world = new FakeWorld();
    const words = "configuration validation failed: 1 error occurred: install.disk is missing";
    const node = world.add("w-1").fail("apply", raise(refusal(status.INVALID_ARGUMENT, words)));
    const message = await failure(configureNode(target("w-1"), world));
    expect(message).toContain("SLU-T201");
    expect(message).toContain(words);
    expect(message).toContain("w-1, maintenance, after 1 try");
    expect(node.calls).toEqual(["apply AUTO"]);
  });

  test("S1.7(2) whose disk selector matches nothing tells the disks that there are", async () => {
    const world = new FakeWorld();
    world.add("w-1").fail("apply", raise(refusal(status.INVALID_ARGUMENT, "no disks matched the expression: x")));
    expect(await failure(configureNode(target("w-1"), world))).toMatch(/SLU-T202[\s\S]*\/dev\/sda \(80 GB/);
  });
});

describe("a node that does not answer", () => {
  test("S1.7(1) is waited for", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    node.kind = "unreachable";
    world.clock.after(60_000, () => {
      node.kind = "maintenance";
    });
    expect(await configureNode(target("w-1"), world)).toMatchObject({ did: "applied", attempts: 1 });
  });

  test("S1.7(1) ends with its name and the remedy when the time is up", async () => {
    const world = new FakeWorld();
    world.add("w-1").kind = "unreachable";
    const message = await failure(configureNode(target("w-1", { deadline: 20 }), world));
    expect(message).toMatch(/^SLU-T102[\s\S]*where: {2}w-1, unreachable, after 1 try[\s\S]*remedy:/);
    expect(world.clock.now()).toBeLessThanOrEqual(20_000);
  });

  test("S1.5 after every try has failed tells its state, the tries, the last error and what to do", async () => {
    const world = new FakeWorld();
    world.add("w-1").fail("apply", ...Array.from({ length: 9 }, () => raise(unavailable())));
    const message = await failure(configureNode(target("w-1"), world));
    expect(message).toMatch(/SLU-T107[\s\S]*w-1, maintenance, after 6 tries[\s\S]*Connection dropped[\s\S]*remedy:/);
  });
});

describe("a foreign node", () => {
  test("S0.2 is never written to", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1");
    node.kind = "foreign";
    expect(await failure(configureNode(target("w-1"), world))).toMatch(/SLU-T109[\s\S]*w-1, foreign, after 1 try/);
    expect(node.calls).toEqual([]);
  });
});

describe("a node that is ours", () => {
  test("S1.6 and runs the config already is left alone", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").runs(`# written otherwise\n${wanted}`);
    expect(await configureNode(target("w-1"), world)).toMatchObject({ did: "nothing", attempts: 1 });
    expect(node.calls).toEqual([]);
  });

  test("S1.6 takes a difference without a reboot where Talos can", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").runs(config());
    expect(await configureNode(target("w-1"), world)).toMatchObject({ did: "applied" });
    expect(node.calls).toEqual(["apply NO_REBOOT"]);
    expect(node.running).toBe(wanted);
  });

  test("S1.6 gets a change that needs a reboot for the next boot, and is rebooted once", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").runs(config());
    expect(await configureNode(target("w-1", { config: rebooting }), world)).toMatchObject({ did: "rebooted" });
    expect(node.calls).toEqual(["apply STAGED", "reboot"]);
    expect(node.running).toBe(rebooting);
  });

  test("S1.6 and has the config for its next boot from a run before is only rebooted", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").runs(config());
    node.persistent = rebooting;
    expect(await configureNode(target("w-1", { config: rebooting }), world)).toMatchObject({ did: "rebooted" });
    expect(node.calls).toEqual(["reboot"]);
  });

  /** What comes up slowly after its reboot: it runs its config long before it runs. */
  function slow(world: FakeWorld, until: number): FakeNode {
    const node = world.add("w-1").runs(config());
    const boot = node.boot.bind(node);
    node.boot = () => {
      node.stage = "booting";
      boot();
      world.clock.after(until, () => {
        node.stage = "running";
        node.changed();
      });
    };
    return node;
  }

  test("S1.3 is done with its reboot when it is as far as it was before: until then the next one waits", async () => {
    const world = new FakeWorld();
    slow(world, 40_000);
    expect(await configureNode(target("w-1", { config: rebooting }), world)).toMatchObject({ stage: "running" });
    expect(world.clock.now()).toBeGreaterThan(40_000);
    expect(world.said).toContain("waits until the node is running again");
  });

  test("S1.4 and does not get there is named with the stage that it is in", async () => {
    const world = new FakeWorld();
    slow(world, 400_000);
    expect(await failure(configureNode(target("w-1", { config: rebooting, deadline: 60 }), world))).toMatch(
      /^SLU-T311 .*after the reboot it is in stage booting/s,
    );
  });

  describe("that is told to reboot, and the answer is lost,", () => {
    const lost: readonly (readonly [string, (node: FakeNode, world: FakeWorld) => void])[] = [
      ["and goes down at once", (node) => node.restart()],
      [
        "and takes its time to go down",
        (node, world) => {
          node.stage = "rebooting";
          world.clock.after(30_000, () => node.restart());
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
        (node, world) => {
          node.kind = "unreachable";
          world.clock.after(150_000, () => {
            node.boots += 1;
            node.boot();
          });
        },
      ],
      [
        "and comes back without its config, which is told it anew",
        (node, world) => {
          node.kind = "unreachable";
          world.clock.after(4000, () => {
            node.boots += 1;
            node.running = undefined;
            node.kind = "maintenance";
          });
        },
      ],
    ];
    test.each(lost)("S1.7(6) %s, is told it once", async (_, heard) => {
      const world = new FakeWorld();
      const node = world.add("w-1").runs(config());
      node.fail("reboot", () => {
        heard(node, world);
        throw unavailable();
      });
      expect(await configureNode(target("w-1", { config: rebooting }), world)).toMatchObject({ stage: "running" });
      expect(node.calls.filter((call) => call === "reboot")).toEqual(["reboot"]);
      expect(node.running).toBe(rebooting);
    });

    test("S1.7(6) and did not hear it, is told it again within seconds", async () => {
      const world = new FakeWorld();
      const node = world.add("w-1").runs(config());
      node.fail("reboot", raise(unavailable()));
      expect(await configureNode(target("w-1", { config: rebooting }), world)).toMatchObject({
        did: "rebooted",
        attempts: 2,
      });
      expect(node.calls).toEqual(["apply STAGED", "reboot", "reboot"]);
      expect(world.clock.now()).toBeLessThan(15_000);
    });

    test("S1.7(1) and was only cut off, is told it again when it is seen to be up as before, and not while it is away", async () => {
      const world = new FakeWorld();
      const node = world.add("w-1").runs(config());
      const told: number[] = [];
      node.fail(
        "reboot",
        () => {
          told.push(world.clock.now());
          node.kind = "unreachable";
          world.clock.after(100_000, () => {
            node.kind = "ours";
          });
          throw unavailable();
        },
        () => told.push(world.clock.now()),
      );
      expect(await configureNode(target("w-1", { config: rebooting }), world)).toMatchObject({ did: "rebooted" });
      expect(told).toHaveLength(2);
      expect(told[1]).toBeGreaterThan(103_000);
    });

    test("S1.5 and never hears it, ends with its name and what was seen", async () => {
      const world = new FakeWorld();
      const node = world.add("w-1").runs(config());
      node.fail("reboot", ...Array.from({ length: 9 }, () => raise(unavailable())));
      expect(await failure(configureNode(target("w-1", { config: rebooting }), world))).toMatch(
        /SLU-T107[\s\S]*w-1, ours, after 6 tries[\s\S]*told to reboot \(Connection dropped\), and 3 s later is up as before/,
      );
    });
  });

  test("S1.5 is told to reboot once when the call itself is at fault, and the fault is told", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").runs(config());
    node.fail("reboot", raise(new TypeError("x is undefined")));
    expect(await failure(configureNode(target("w-1", { config: rebooting }), world))).toMatch(
      /SLU-T108[\s\S]*after 1 try[\s\S]*x is undefined/,
    );
    expect(node.calls).toEqual(["apply STAGED", "reboot"]);
    expect(world.clock.now()).toBe(0);
  });

  test("S4.2 but is of another role than meant is not written to: its address is another node's", async () => {
    const world = new FakeWorld();
    const node = world.add("cp-1").runs(config({}, "worker"));
    const asked = target("cp-1", { role: "controlplane", config: config({}, "controlplane") });
    expect(await failure(configureNode(asked, world))).toMatch(
      /SLU-T302[\s\S]*it runs as worker, and is to be control/,
    );
    expect(node.calls).toEqual([]);
  });

  test("S1.7(5) that does not come back ends with its name, within the deadline", async () => {
    const world = new FakeWorld();
    const node = world.add("w-1").runs(config());
    node.boot = () => undefined;
    const message = await failure(configureNode(target("w-1", { config: rebooting, deadline: 100 }), world));
    expect(message).toMatch(/SLU-T206[\s\S]*w-1, unreachable, after 1 try/);
    expect(world.clock.now()).toBeLessThanOrEqual(101_000);
  });
});

describe("control planes that are bootstrapped", () => {
  const names = ["cp-1", "cp-2", "cp-3"];
  const before = config({}, "controlplane");
  const after = config({ env: { A: "1" } }, "controlplane");

  function cluster(): FakeWorld {
    const world = new FakeWorld();
    for (const name of names) {
      const node = world.add(name).runs(before);
      node.etcd = { state: "Running", healthy: true };
      node.members = names;
    }
    return world;
  }
  const change = (world: FakeWorld, name: string, changes: Partial<NodeTarget> = {}) =>
    configureNode(target(name, { role: "controlplane", config: after, ...changes }), world);

  test("S1.3 are changed one at a time, with etcd healthy in between", async () => {
    const world = cluster();
    const away: number[] = [];
    for (const node of world.nodes.values()) {
      const boot = node.boot.bind(node);
      node.boot = () => {
        away.push([...world.nodes.values()].filter(({ kind, etcd }) => kind !== "ours" || !etcd.healthy).length);
        node.etcd = { state: "Running", healthy: false };
        boot();
        world.clock.after(4000, () => {
          node.etcd = { state: "Running", healthy: true };
          node.changed();
        });
      };
    }
    await Promise.all(names.map((name) => change(world, name)));
    expect(away).toEqual([1, 1, 1]);
    for (const { calls } of world.nodes.values()) expect(calls).toEqual(["apply STAGED", "reboot"]);
  });

  test("S1.7(9) are not rebooted while another member is ill", async () => {
    const world = cluster();
    const ill = world.nodes.get("cp-3");
    if (ill !== undefined) ill.etcd = { state: "Running", healthy: false };
    expect(await failure(change(world, "cp-1", { deadline: 30 }))).toMatch(
      /SLU-T321[\s\S]*etcd on cp-3 is not healthy/,
    );
    expect(world.nodes.get("cp-1")?.calls).toEqual([]);
  });

  test("S1.3 are left alone when one before them failed", async () => {
    const world = cluster();
    const first = world.nodes.get("cp-1");
    first?.fail("trial", raise(refusal(status.INVALID_ARGUMENT, "no such field")));
    const ends = await Promise.all(["cp-1", "cp-2"].map((name) => failure(change(world, name))));
    expect(ends[0]).toMatch(/SLU-T201[\s\S]*no such field/);
    expect(ends[1]).toMatch(/left alone, because it failed before: cp-1: no such field/);
    expect(world.nodes.get("cp-2")?.calls).toEqual([]);
  });

  test("S1.3 that are not bootstrapped yet wait for nobody", async () => {
    const world = cluster();
    for (const node of world.nodes.values()) node.etcd = { state: "Preparing", healthy: false };
    await Promise.all(names.map((name) => change(world, name)));
    expect(world.said).not.toContain("waits for its turn: control planes are changed one at a time");
  });
});

test("S1.5 nothing that is said of a node holds a secret of its config", async () => {
  const world = new FakeWorld();
  world.add("w-1").runs(config());
  world.add("w-2").fail("apply", raise(refusal(status.INVALID_ARGUMENT, "refused")));
  await configureNode(target("w-1", { config: rebooting }), world);
  const message = await failure(configureNode(target("w-2", { config: rebooting }), world));
  expect(everythingSaid(world, message)).not.toContain("MARKER");
});

function raise(error: Error): () => never {
  return () => {
    throw error;
  };
}
