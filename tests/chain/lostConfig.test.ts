// Nodes that took their config and lose it: to an installer that fails, and to someone who resets them. No `--refresh` is typed.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain, type Run } from "../lab/support/chain.ts";

jest.setTimeout(900_000);

const off = { enabled: false };
const config = { csi: off, flux: off, sealedSecrets: off };

/** What a run did to nodes. */
const configured = ({ steps }: Run) =>
  steps
    .filter(({ type }) => type.endsWith("talos:AppliedMachineConfig"))
    .map(({ op, name, failed }) => `${op} ${name}${failed ? " failed" : ""}`);

describe("a control plane whose installer failed (S1.6, S5.5)", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ platform: "existing", config });
    await chain.lab.fault({
      on: "install",
      subject: chain.server("cp-1"),
      do: "fail",
      message: "exit code 1",
      times: 1,
    });
  });
  afterAll(() => chain?.down());

  test("S1.7(5) is found by the first gate, which ends at once with the cause and what to do", async () => {
    const run = await chain.run("up");
    expect(run.code).not.toBe(0);
    expect(run.stdout).toMatch(/SLU-T215 The node has lost its machine config: gate Stages failed after \d+ s\n/);
    expect(run.stdout).toMatch(/cp-1: is in maintenance again, without its config/);
    expect(run.stdout).toMatch(/what to do: Run `npm run up -- <environment>` again: it sends the config again/);
    expect(run.seconds).toBeLessThan(100);
  });

  test("gets its config again in the next plain up, which announces that and succeeds", async () => {
    const run = await chain.up();
    expect(run.stdout).toContain("cp-1 is in maintenance, without its config: it is sent again");
    expect(configured(run)).toEqual(["update test-cp-1"]);
  });
});

/** As a user does it, without draining. */
async function reset(chain: Chain, node: string, address: string): Promise<void> {
  const labels = ["STATE", "EPHEMERAL"].flatMap((label) => ["--system-labels-to-wipe", label]);
  const before = chain.lab.facts.all.at(-1);
  await chain.talosctl("reset", ...labels, "--reboot", "--graceful=false", "--wait=false", "--nodes", address);
  await chain.lab.until({ subject: chain.server(node), what: "stage", value: "maintenance", after: before });
}

describe("nodes that lose their configs in a cluster of two (S1.6, S5.5)", () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await Chain.of({ platform: "existing", workers: 1, config });
  });
  afterAll(() => chain?.down());

  const configsOf = (node: string) =>
    chain.lab.facts.all.filter(
      ({ subject, what, value }) => subject === chain.server(node) && what === "config" && value === "applied",
    ).length;
  const install = (node: string) => ({ on: "install", subject: chain.server(node), do: "fail", times: 1 });

  test("end the run soon if the control plane does, whose certificate the worker waits for", async () => {
    await chain.lab.fault(install("cp-1"));
    const run = await chain.run("up");
    expect(run.code).not.toBe(0);
    expect(run.stdout).toMatch(/SLU-T215 .*\n.*where: +w-1, /);
    expect(run.stdout).toMatch(/a control plane issues, and cp-1 is in maintenance, without a config/);
    expect(run.seconds).toBeLessThan(150);
  });

  test("get them in the next plain up, also a worker whose installer fails in it", async () => {
    await chain.lab.fault(install("w-1"));
    const run = await chain.up();
    expect(configured(run).sort()).toEqual(["create test-w-1", "update test-cp-1"]);
    expect(configsOf("cp-1")).toBe(2);
  });

  test("S1.7(5) get them again in the next plain up after a reset by hand, and every gate proves the cluster again", async () => {
    const sent = configsOf("w-1");
    await reset(chain, "w-1", "10.0.0.21");
    const run = await chain.up();
    expect(run.steps.map(({ op, name }) => `${op} ${name}`)).toEqual(
      expect.arrayContaining([
        ...["update test-w-1", "update test-stages", "update test-etcd", "update test-talos-services"],
        ...["update test-kubernetes-api", "update test-nodes-joined", "update test-nodes-ready"],
      ]),
    );
    expect([configsOf("cp-1"), configsOf("w-1")]).toEqual([2, sent + 1]);
    await chain.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=30s");
  });

  test("have nothing to do in the run after that", async () => {
    expect((await chain.up()).steps).toEqual([]);
  });
});
