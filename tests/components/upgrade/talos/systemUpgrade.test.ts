import { status } from "@grpc/grpc-js";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { lookAtSystem } from "../../../../components/upgrade/talos/systemLook.ts";
import { SystemUpgrade } from "../../../../components/upgrade/talos/systemUpgrade.ts";
import {
  config,
  credentials,
  type FakeNode,
  FakeWorld,
  failure,
  raise,
  refusal,
  unavailable,
} from "../../talos/fakeNodes.ts";

const [old, next] = ["a".repeat(64), "b".repeat(64)];
const image = `factory.example.org/metal-installer/${next}:v1.13.8`;
const wanted = { installer: image, version: "1.13.8", schematic: next };

let world: FakeWorld;
let node: FakeNode;
beforeEach(() => {
  world = new FakeWorld();
  node = world.add("w-1").runs(config());
  Object.assign(node, { version: "1.13.5", schematic: old, ready: true });
});

const seconds = 600;
async function run(): Promise<void> {
  const before = await lookAtSystem(node.client("ours"));
  const target = { name: "w-1", role: "worker", talosAddress: "w-1", wanted } as const;
  await new SystemUpgrade(target, credentials, world.clock.now() + seconds * 1000, world).run(before);
}
const isNew = () => [node.version, node.schematic.slice(0, 1), node.boots];
const installing = "install";

describe("S8.3 another Talos on a node of 1.13 or later", () => {
  test("is installed, then booted, each with one call", async () => {
    await run();
    expect(node.calls).toEqual(["pull", installing, "reboot"]);
    expect(isNew()).toEqual(["1.13.8", "b", 2]);
    expect(world.said).toEqual(
      expect.arrayContaining(["installs", "installs: installation complete", "reboots into Talos 1.13.8"]),
    );
  });

  test("S1.6 is not installed again if an earlier run has done that: the node is only rebooted", async () => {
    node.installer.install(image);
    node.log = [
      `[talos] starting upgrade: installer_image=${image}, disk=/dev/sda`,
      "[talos] upgrade completed successfully: exit_code=0",
    ];
    await run();
    expect(node.calls).toEqual(["reboot"]);
    expect(isNew()).toEqual(["1.13.8", "b", 2]);
  });

  test("S1.6 is installed again if an earlier installation was of another image, or failed", async () => {
    node.log = [
      "[talos] starting upgrade: installer_image=other:v1.13.7, disk=/dev/sda",
      "[talos] upgrade completed successfully: exit_code=0",
    ];
    await run();
    expect(node.calls).toEqual(["pull", installing, "reboot"]);
  });

  test("waits for an installer that someone else runs, and sends no second call meanwhile", async () => {
    node.installer.isRunning = true;
    world.clock.after(30_000, () => {
      expect(node.calls).toEqual([]);
      node.installer.isRunning = false;
    });
    await run();
    expect(node.calls).toEqual(["pull", installing, "reboot"]);
    expect(world.said).toContain("waits for an installer that is already running");
  });

  test("waits if Talos says that another installation is in progress", async () => {
    node.fail(
      "install",
      raise(refusal(status.FAILED_PRECONDITION, "another installation/upgrade is already in progress")),
    );
    await run();
    expect(node.calls).toEqual(["pull", installing, "pull", installing, "reboot"]);
  });

  test("S1.7(6) is not installed twice if the stream breaks while the installer runs on to its end", async () => {
    node.fail("exit", () => {
      node.installer.isRunning = true;
      world.clock.after(20_000, () => {
        node.installer.isRunning = false;
        node.installer.install(image);
        node.log.push("[talos] upgrade completed successfully: exit_code=0");
      });
      throw unavailable();
    });
    await run();
    expect(node.calls).toEqual(["pull", installing, "reboot"]);
    expect(isNew()).toEqual(["1.13.8", "b", 2]);
  });

  test("S1.7(6) is installed again if the call did not arrive", async () => {
    node.fail("install", raise(unavailable()));
    await run();
    expect(node.calls).toEqual(["pull", installing, "pull", installing, "reboot"]);
  });

  test("fails with what the installer printed if that exits with an error, and the node is not rebooted", async () => {
    node.installer.exitCode = 1;
    node.installer.output = ["running Talos installer\n", "Error: no space left on device\n"];
    const text = await failure(run());
    expect(text).toMatch(/^SLU-T404 The installer failed on a node/);
    expect(text).toContain("the installer exited with 1");
    expect(text).toContain("Error: no space left on device");
    expect(node.calls).toEqual(["pull", installing]);
  });

  test("fails with the registry's words if the image is gone", async () => {
    node.fail("pull", raise(refusal(status.NOT_FOUND, "error pulling image: not found")));
    expect(await failure(run())).toMatch(/^SLU-T403 .*error pulling image: not found/s);
    expect(node.calls).toEqual(["pull"]);
  });

  test("is not rebooted again if the machine lost its power after the installation", async () => {
    node.fail("exit", () => {
      node.installer.install(image);
      node.restart();
      throw unavailable();
    });
    await run();
    expect(node.calls).toEqual(["pull", installing]);
    expect(isNew()).toEqual(["1.13.8", "b", 2]);
  });

  test("S1.7(6) is rebooted once if the answer to the reboot is lost", async () => {
    node.fail("reboot", () => {
      node.restart();
      throw unavailable();
    });
    await run();
    expect(node.calls).toEqual(["pull", installing, "reboot"]);
    expect(node.boots).toBe(2);
  });

  test("that does not come up is reported with the last words of the failed boot: the node runs its previous system", async () => {
    node.fail("exit", () => {
      // Its boots follow without any call.
      node.installer.install(image);
      node.restart();
      node.installer.isOnTrial = true;
      world.clock.after(4_000, () => {
        node.ready = false;
        node.log = ["[talos] boot sequence: failed: no such module"];
      });
      world.clock.after(20_000, () => {
        node.installer.next = { version: "1.13.5", schematic: old };
        node.restart();
      });
      throw unavailable();
    });
    const text = await failure(run());
    expect(text).toMatch(/^SLU-T405 A node returned to its previous system/);
    expect(text).toContain(
      "it rebooted for Talos 1.13.8 with schematic bbbbbbbb, and runs Talos 1.13.5 with schematic aaaaaaaa again",
    );
    expect(text).toContain("boot sequence: failed: no such module");
    expect(node.version).toBe("1.13.5");
  });

  test("that never comes up fails in time, with what the node reported last", async () => {
    node.fail("reboot", () => {
      node.kind = "unreachable";
      throw unavailable();
    });
    const text = await failure(run());
    expect(text).toMatch(/^SLU-T406 A node did not come up with its new system in time/);
    expect(text).toContain("time is up; last: Connection dropped");
    expect(world.clock.now()).toBeLessThan((seconds + 30) * 1000);
  });

  test("that boots into maintenance fails early: it does not read its config", async () => {
    node.fail("reboot", () => {
      node.restart();
      node.persistent = undefined;
      world.clock.after(3_100, () => {
        node.kind = "maintenance";
      });
      throw unavailable();
    });
    const text = await failure(run());
    expect(text).toContain("it booted into maintenance: Talos 1.13.8 does not read its machine config");
    expect(world.clock.now()).toBeLessThan(60_000);
  });

  test("is not written to a node that answers with another cluster's certificate", async () => {
    node.fail("reboot", () => {
      node.kind = "foreign";
      throw unavailable();
    });
    expect(await failure(run())).toMatch(/^SLU-T109 /);
  });
});

describe("S8.3 another Talos on a node before 1.13", () => {
  beforeEach(() => {
    node.version = "1.12.6";
  });

  test("is installed and booted by one call", async () => {
    await run();
    expect(node.calls).toEqual(["upgrade"]);
    expect(isNew()).toEqual(["1.13.8", "b", 2]);
  });

  test("S1.6 is not called for again if an earlier call is at work", async () => {
    node.installer.install(image);
    node.stage = "upgrading";
    world.clock.after(10_000, () => node.restart());
    const before = { ...(await lookAtSystem(node.client("ours"))), stage: "running" };
    const target = { name: "w-1", role: "worker", talosAddress: "w-1", wanted } as const;
    await new SystemUpgrade(target, credentials, seconds * 1000, world).run(before);
    expect(node.calls).toEqual([]);
    expect(isNew()).toEqual(["1.13.8", "b", 2]);
  });

  test("S1.7(6) is not called for again if only the answer is lost", async () => {
    node.fail("upgrade", () => {
      node.stage = "upgrading";
      node.installer.install(image);
      node.restart();
      throw unavailable();
    });
    await run();
    expect(node.calls).toEqual(["upgrade"]);
  });

  test("S1.7(6) is called for again once the node has certainly not received the call", async () => {
    node.fail("upgrade", raise(unavailable()));
    await run();
    expect(node.calls).toEqual(["upgrade", "upgrade"]);
    expect(world.clock.waits.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(10);
  });

  test.each([
    ["SLU-T403", 'error validating installer image "x": not found'],
    ["SLU-T404", "error validating etcd for upgrade: etcd member 1 is not healthy"],
  ])("is refused with %s and Talos' words", async (code, words) => {
    node.fail("upgrade", raise(refusal(status.UNKNOWN, words)));
    expect(await failure(run())).toMatch(new RegExp(`^${code} .*${words}`, "s"));
    expect(node.calls).toEqual(["upgrade"]);
  });

  test("that fails to install comes back with its previous system, and its log says why", async () => {
    node.installer.exitCode = 1;
    node.installer.kernelLog = ["kern: info: Error: no space left on device"];
    const reboots = node.restart.bind(node);
    node.restart = () => void world.clock.after(5_000, reboots);
    const text = await failure(run());
    expect(text).toMatch(/^SLU-T405 .*runs Talos 1\.12\.6 with schematic aaaaaaaa again.*no space left on device/s);
  });
});
