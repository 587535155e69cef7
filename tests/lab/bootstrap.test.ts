// Bootstrap calls that are lost, cut, killed, or made by two at once, on nodes that bootstrap as real Talos does. Each ends with one healthy etcd.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { parse } from "yaml";
import type { BootstrapInputs } from "../../components/talos/nodes/bootstrap.provider.ts";
import { root } from "../../scripts/base/paths.ts";
import type { Fact } from "./support/facts.ts";
import { Lab } from "./support/lab.ts";
import { Cluster, inMaintenance } from "./support/talos.ts";

jest.setTimeout(240_000);

const program = join(root, "tests", "lab", "programs", "bootstrap", "bootstrap.ts");

interface Done {
  readonly failure?: string;
  readonly seconds: number;
  readonly said: readonly string[];
}

/** What Talos leaves of an etcd whose bootstrap was cancelled. */
const cancelled = {
  "1.12.6": /^bootstraps etcd on cp-1 again: etcd is Failed: Failed to run pre stage: .*context canceled$/,
  "1.13.8": /^bootstraps etcd on cp-1 again: etcd is Finished: Service finished successfully$/,
};

describe.each(["1.12.6", "1.13.8"] as const)("the bootstrap of a control plane with Talos %s", (talos) => {
  let lab: Lab;
  let cluster: Cluster;
  let isUsed = false;
  /** The last fact before a test. */
  let start: Fact | undefined;
  beforeAll(async () => {
    lab = await Lab.up();
    cluster = await Cluster.servers(lab, { talos, controlPlanes: 1, workers: 0 });
  });
  afterAll(() => lab?.down());

  /** A control plane that nobody has bootstrapped, and whose image of etcd was never pulled. */
  beforeEach(async () => {
    start = lab.facts.all.at(-1);
    if (isUsed) {
      const wiped = ["--system-labels-to-wipe", "STATE,EPHEMERAL"];
      await cluster.said(cluster.first, "reset", "--graceful=false", "--reboot", "--wait=false", ...wiped);
      await inMaintenance(lab, "cp-1", start);
      start = lab.facts.all.at(-1);
    }
    isUsed = true;
  });

  const happened = (what: string, value: string) =>
    lab.facts.all.filter(
      (fact) => fact.seq > (start?.seq ?? 0) && fact.subject === "cp-1" && fact.what === what && fact.value === value,
    ).length;
  const next = (what: string, value: string, after = start) =>
    lab.until({ subject: "cp-1", what, value, after }, 120_000);

  /** Waits until the node can be bootstrapped. */
  async function prepare(): Promise<void> {
    await cluster.apply(cluster.first);
    await lab.until({ subject: "cp-1", what: "service", value: "Preparing", detail: { id: "etcd" }, after: start });
  }

  function input(deadlineSeconds = 120): string {
    const { contexts, context } = parse(readFileSync(cluster.talosconfig, "utf8"));
    const { ca, crt, key } = contexts[context];
    const { name, address } = cluster.first;
    const controlPlanes = [{ name, talosAddress: address, machineId: "" }];
    const inputs: BootstrapInputs = { controlPlanes, credentials: { ca, crt, key }, deadlineSeconds, row: "the urn" };
    return JSON.stringify(inputs);
  }

  async function bootstrap(deadlineSeconds?: number): Promise<Done> {
    return JSON.parse(await lab.said(process.execPath, [program], { input: input(deadlineSeconds) }));
  }

  /** One member, and it is healthy. */
  async function expectOneEtcd(): Promise<void> {
    const members = (await cluster.said(cluster.first, "etcd", "members")).trim().split("\n");
    expect(members).toHaveLength(2);
    expect(await cluster.said(cluster.first, "service", "etcd")).toMatch(/STATE\s+Running[\s\S]*HEALTH\s+OK/);
  }

  test("S5.1 calls once and waits for nothing if nothing fails", async () => {
    await prepare();
    const done = await bootstrap();
    expect(done.failure).toBeUndefined();
    expect(happened("call", "Bootstrap")).toBe(1);
    // Far less than the ten seconds after which a doubtful node counts as quiet.
    expect(done.seconds).toBeLessThan(8);
    await expectOneEtcd();
  });

  test("S5.1 calls again, with Talos' words for what became of the first call, if the connection was cut while Talos worked on it [C6]", async () => {
    await prepare();
    await lab.fault({ on: "talos", name: "Bootstrap", subject: "cp-1", do: "cut", times: 1 });
    const done = await bootstrap();
    expect(done.failure).toBeUndefined();
    expect(done.said).toContainEqual(expect.stringMatching(cancelled[talos]));
    expect(happened("call", "Bootstrap")).toBe(2);
    expect(happened("bootstrap", "asked")).toBe(1);
    await expectOneEtcd();
  });

  // In all else the versions are the same.
  if (talos !== "1.13.8") return;

  test("S5.1 does not call again if the answer was lost after the call took effect [C6]", async () => {
    await prepare();
    await lab.fault({ on: "talos", name: "Bootstrap", subject: "cp-1", do: "lose", times: 1 });
    expect((await bootstrap()).failure).toBeUndefined();
    expect(happened("call", "Bootstrap")).toBe(1);
    await expectOneEtcd();
  });

  test("S5.1 calls again in the next run if the caller of the first was killed and its call cancelled", async () => {
    await prepare();
    await lab.fault({ on: "talos", name: "Bootstrap", subject: "cp-1", do: "cut", times: 1 });
    await cluster.talosctl(cluster.first, ["bootstrap"]);
    expect((await bootstrap()).failure).toBeUndefined();
    expect(happened("bootstrap", "asked")).toBe(1);
    await expectOneEtcd();
  });

  test("S5.1 does not call in the run after one that was killed while its etcd was starting", async () => {
    const slow = await lab.fault({ on: "image", name: "*/etcd:*", subject: "cp-1", do: "hold" });
    await prepare();
    const inputs = lab.write("inputs.json", input());
    const killed = lab.watch("sh", ["-c", 'exec "$0" "$1" < "$2"', process.execPath, program, inputs]);
    await next("bootstrap", "asked");
    await killed.stop("SIGKILL");
    const again = bootstrap();
    // Longer than from one observation to the next, and as long as a doubtful node must be quiet.
    await setTimeout(12_000);
    await lab.endFault(slow);
    expect((await again).failure).toBeUndefined();
    expect(happened("call", "Bootstrap")).toBe(1);
    await expectOneEtcd();
  });

  test("S5.1 calls once if another operator comes while the etcd of the first is starting", async () => {
    await lab.fault({ on: "image", name: "*/etcd:*", subject: "cp-1", do: "delay", delay: "4s", times: 2 });
    await prepare();
    const first = bootstrap();
    await next("bootstrap", "asked");
    const both = await Promise.all([first, bootstrap()]);
    expect(both.map(({ failure }) => failure)).toEqual([undefined, undefined]);
    expect(happened("call", "Bootstrap")).toBe(1);
    await expectOneEtcd();
  });

  test("S5.1 reboots the node once if two calls arrived together and the second stopped the etcd of the first", async () => {
    await prepare();
    await lab.fault({ on: "talos", name: "Bootstrap", subject: "cp-1", do: "delay", delay: "3s", times: 2 });
    const both = await Promise.all([bootstrap(), bootstrap()]);
    expect(both.map(({ failure }) => failure)).toEqual([undefined, undefined]);
    expect(happened("bootstrap", "interrupted")).toBe(happened("stage", "rebooting"));
    await expectOneEtcd();
  });

  test("S5.1 reboots a node whose etcd a second call by hand has stopped, and leaves its data alone", async () => {
    await prepare();
    await lab.fault({ on: "talos", name: "Bootstrap", subject: "cp-1", do: "delay", delay: "2s", times: 2 });
    const calls = await Promise.all([1, 2].map(() => cluster.talosctl(cluster.first, ["bootstrap"])));
    expect(calls.map(({ stderr }) => stderr).join("")).toContain("etcd data directory is not empty");
    const done = await bootstrap();
    expect(done.failure).toBeUndefined();
    expect(done.said).toContainEqual(expect.stringContaining("etcd is Finished: Bootstrap requested"));
    expect(happened("call", "Bootstrap")).toBe(2);
    expect(happened("stage", "rebooting")).toBe(1);
    await expectOneEtcd();
  });

  test("S5.1 shows Talos' words for an image of etcd that cannot be pulled, in the row and in the error, and the next run needs no second call", async () => {
    const message = "dial tcp: lookup registry.k8s.io: no such host";
    const pull = await lab.fault({ on: "image", name: "*/etcd:*", subject: "cp-1", do: "fail", message });
    await prepare();
    const late = await bootstrap(12);
    expect(late.failure).toMatch(/^SLU-T218 /);
    expect(late.failure).toContain(message);
    expect(late.said).toContainEqual(expect.stringMatching(/^cp-1: etcd is Preparing: retrying error: failed to pull/));
    await lab.endFault(pull);
    expect((await bootstrap()).failure).toBeUndefined();
    expect(happened("call", "Bootstrap")).toBe(1);
    await expectOneEtcd();
  });
});
