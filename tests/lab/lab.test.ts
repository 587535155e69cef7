// A lab as one: how it starts and ends, what it costs, and that the same seed gives the same result.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { run } from "../../scripts/base/run.ts";
import { programPaths } from "../../scripts/lab/programs.ts";
import { Workbench } from "../support/cli.ts";
import { Cloud } from "./support/cloud.ts";
import type { Fact } from "./support/facts.ts";
import { Lab, type LabOptions } from "./support/lab.ts";
import { Cluster, inMaintenance } from "./support/talos.ts";
import { Trace } from "./support/trace.ts";
import { memory, processorSeconds } from "./support/usage.ts";

jest.setTimeout(600_000);

const talos = "1.13.8";

/** Prints what was measured, so that a slow change is noticed before it exceeds a limit. */
function measured(what: string, value: number, unit: string): number {
  process.stdout.write(`measured: ${what}: ${value.toFixed(1)} ${unit}\n`);
  return value;
}

describe("npm run lab", () => {
  const bench = new Workbench({ fresh: true });
  const lab = (...args: readonly string[]) => bench.npm("lab", ...args);
  let trace: Trace;
  beforeAll(async () => {
    expect(await lab("up")).toMatchObject({ code: 0 });
    trace = new Trace(bench.work);
  });
  afterAll(() => bench.remove());

  test("prints what runs", async () => {
    const status = await lab("status");
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining("192.0.2.10") });
  });

  test("passes on input, output and exit code of a program", async () => {
    const script = "cat; echo said >&2; exit 7";
    const ended = await bench.npmWith({ input: "given" }, "lab", "exec", "--", "sh", "-c", script);
    expect(ended).toMatchObject({ code: 7, stdout: "given", stderr: expect.stringContaining("said") });
  });

  test("runs a program inside, where the lab answers and nothing of the machine does", async () => {
    const versions = await lab("exec", "curl", "--silent", "http://192.0.2.20/versions");
    expect(JSON.parse(versions.stdout)).toContain(`v${talos}`);
    const interfaces = await lab("exec", "cat", "/proc/net/dev");
    expect(interfaces.stdout).not.toMatch(/eth0|ens\d/);
  });

  test("does not start a second lab of the same name, and reports that it runs", async () => {
    const processes = trace.processes;
    expect(await lab("up")).toMatchObject({ code: 0, stderr: expect.stringContaining("runs already") });
    expect(trace.processes).toEqual(processes);
  });

  test("ends a lab and leaves nothing behind", async () => {
    expect(trace.namespaces.size).toBeGreaterThan(2);
    expect(trace.processes.length).toBeGreaterThan(0);
    expect(await lab("down")).toMatchObject({ code: 0 });
    expect(trace.left()).toEqual([]);
  });

  test("reports that no lab runs after that", async () => {
    expect(await lab("status")).toMatchObject({ code: 1, stderr: expect.stringContaining("no lab runs in") });
    expect(await lab("down")).toMatchObject({ code: 0 });
  });
});

describe("two labs side by side", () => {
  test("have the same addresses and nothing in common", async () => {
    await Lab.during({}, async (one) => {
      await Lab.during({}, async (two) => {
        const [first, second] = [new Cloud(one), new Cloud(two)];
        const image = await first.snapshot(talos);
        const server = await first.server("only-here", { image });
        await inMaintenance(one, "only-here");
        expect(await second.call("GET", "/servers")).toMatchObject({ servers: [] });
        const args = ["get", "disks", "--insecure", "--nodes", server.address];
        expect(await one.exec("talosctl", args)).toMatchObject({ code: 0 });
        expect(await two.exec("timeout", ["2", "talosctl", ...args])).not.toMatchObject({ code: 0 });
      });
    });
  });
});

describe("a lab that is killed", () => {
  test("ends with everything in it, and the next one starts from nothing", async () => {
    await Lab.during({}, async (lab) => {
      const cluster = await Cluster.ready(lab, { talos, controlPlanes: 1, workers: 1 });
      const trace = lab.trace();
      const daemon = trace.daemon;
      if (daemon === undefined) throw new Error("the lab has no process of its own");
      process.kill(daemon, "SIGKILL");
      await lab.ended();
      // A process that is killed cannot remove its files; the next one does.
      await lab.start();
      expect(trace.outlived()).toEqual([]);
      expect(await new Cloud(lab).call("GET", "/servers")).toMatchObject({ servers: [] });
      const knock = ["--insecure", "--max-time", "2", `https://${cluster.first.address}:50000`];
      expect(await lab.exec("curl", knock)).toMatchObject({ code: 28 });
    });
  });
});

describe("the same seed", () => {
  /** The facts of a cluster's nodes until they are Ready, without those that do not wait for that. Facts of one moment come in any order. */
  function facts(options: LabOptions): Promise<Record<string, string[]>> {
    return Lab.during(options, async (lab) => {
      const { nodes } = await Cluster.ready(lab, { talos, controlPlanes: 1, workers: 1 });
      for (const { name: subject } of nodes) {
        await lab.until({ subject, what: "ready", value: "true" });
        await lab.until({ subject, what: "pod", value: "ready", detail: { pod: "kube-system/kube-proxy-" } });
      }
      const own = lab.facts.all.filter(({ subject }) => nodes.some(({ name }) => name === subject));
      return bySubject(own.filter((fact) => !followsOnReady(fact)));
    });
  }

  test("gives the same facts, except measured values; another gives others", async () => {
    const [one, same, other] = [await facts({ seed: 7 }), await facts({ seed: 7 }), await facts({ seed: 8 })];
    expect(Object.keys(one).sort()).toEqual(["cp-1", "w-1"]);
    expect(same).toEqual(one);
    expect(addresses(other)).not.toEqual(addresses(one));
  });
});

describe("a cluster of three control planes and three workers", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.up();
  });
  afterAll(() => lab?.down());

  test("runs in a lab that is ready in 5 s", () => {
    expect(measured("until the lab is ready", lab.startTook / 1000, "s")).toBeLessThan(5);
  });

  test("is Ready 60 s after the first server was ordered", async () => {
    const started = performance.now();
    await Cluster.ready(lab, { talos, controlPlanes: 3, workers: 3 });
    const seconds = (performance.now() - started) / 1000;
    expect(measured("until 3+3 nodes are Ready", seconds, "s")).toBeLessThan(60);
  });

  test("answers this machine's kubectl through a port of its loopback", async () => {
    const kubeconfig = join(lab.folder, "kubeconfig");
    writeFileSync(kubeconfig, (await lab.call("kubeconfig")).stdout);
    const kubectl = programPaths().kubectl ?? "";
    const { stdout } = await run(kubectl, ["--kubeconfig", kubeconfig, "get", "nodes", "--output", "name"]);
    expect(stdout.split("\n").filter((line) => line.startsWith("node/"))).toHaveLength(6);
  });

  test("uses at most 15 % of a core while nothing happens", async () => {
    // What was started completes first: images, leases, elections.
    await pass(10_000);
    const trace = lab.trace();
    const before = processorSeconds(trace);
    await pass(15_000);
    const share = (100 * (processorSeconds(trace) - before)) / 15;
    measured("memory of 3+3 nodes", memory(trace), "GiB");
    expect(measured("idle with 3+3 nodes", share, "% of a core")).toBeLessThan(15);
  });
});

describe("a hundred nodes", () => {
  test("use less than 6 GiB", async () => {
    await Lab.during({}, async (lab) => {
      await Cluster.ready(lab, { talos, controlPlanes: 3, workers: 97 });
      expect(measured("memory of 100 nodes", memory(lab.trace()), "GiB")).toBeLessThan(6);
    });
  });
});

/** Facts that may come before or after the last node is Ready, and on any node: pods of a Deployment start on any Ready node. */
function followsOnReady({ what, value, detail = {} }: Fact): boolean {
  if (what === "taints" || (what === "pod" && value === "begun")) return true;
  return Object.values(detail).some((text) => text.includes("coredns"));
}

/** Facts without their moment, and so without their order. */
function bySubject(facts: readonly Fact[]): Record<string, string[]> {
  const groups = Object.entries(Object.groupBy(facts, ({ subject }) => subject));
  return Object.fromEntries(groups.map(([subject, group = []]) => [subject, group.map(told).sort()]));
}

function told({ what, value, detail = {} }: Fact): string {
  return [what, value, ...Object.entries(detail).map(([key, text]) => `${key}=${text}`)].join(" ");
}

/** The facts that name an address. */
function addresses(facts: Record<string, string[]>): string[] {
  return Object.values(facts)
    .flat()
    .filter((line) => /\d+\.\d+\.\d+\.\d+/.test(line));
}
