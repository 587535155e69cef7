// What is true on every platform, for a suite whose cluster is one control plane and one worker.
import { expect, test } from "@jest/globals";
import type { Chain } from "./chain.ts";
import type { ChainNode } from "./chainEnvironment.ts";
import { findDrift, noDrift } from "./drifts.ts";

export interface OnPlatform {
  /** The suite's own, once it is up. */
  readonly chain: () => Chain;
  /** A worker that is added and removed, `w-2`; on platform existing its machine exists from the beginning. */
  readonly added: ChainNode;
  /** Replaces that worker's machine by hand, and updates the environment with its identity. */
  readonly remake: () => Promise<void>;
}

/** The tests, from a cluster that is up to the same cluster again. */
export function holdsOnEveryPlatform({ chain, added, remake }: OnPlatform): void {
  const nodes = async () => {
    await chain().kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    return (await chain().kubectl("get", "nodes", "--output", "name")).trim().split("\n");
  };
  const uid = (name: string) => chain().kubectl("get", "node", name, "--output", "jsonpath={.metadata.uid}");
  /** The calls that changed something on nodes in the meantime: `node call`. A server has its node's name, with the cluster's name before it. */
  async function told(work: () => Promise<unknown>): Promise<string[]> {
    const before = chain().lab.facts.all.length;
    await work();
    const calls = chain()
      .lab.facts.all.slice(before)
      .filter(({ subject, what }) => what === "call" && /^(test-)?(cp|w)-\d$/.test(subject));
    return calls.map(({ subject, value }) => `${subject.replace("test-", "")} ${value}`).sort();
  }

  test("becomes a cluster that Flux reconciles, from nothing (S3.1, S4.7)", async () => {
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
    const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];
    expect(await chain().kubectl(...greeting)).not.toBe("");
    expect(await chain().outputs()).toMatchObject({
      gitOpsRevision: expect.stringMatching(/^main@sha1:[0-9a-f]{40}$/),
    });
  });

  test("has no drift, and is left alone by an update with nothing to do (S1.6, U3)", async () => {
    expect(await chain().run("refresh", "--expect-no-changes")).toMatchObject({ code: 0, steps: [] });
    expect((await chain().up()).steps).toEqual([]);
  });

  test("applies a change that needs a reboot, which the preview shows for each node (S1.3, U2) [C9]", async () => {
    chain().configure({ patches: [{ name: "variable", patch: { machine: { env: { A_VARIABLE: "a" } } } }] });
    const { stdout, stderr } = await chain().run("preview");
    for (const name of ["cp-1", "w-1"])
      expect(stdout + stderr).toMatch(new RegExp(`${name}: \\d changes? .*, ${name} REBOOTS`));
    const calls = await told(() => chain().up());
    expect(calls).toEqual(["cp-1 ApplyConfiguration", "cp-1 Reboot", "w-1 ApplyConfiguration", "w-1 Reboot"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
  });

  test("has a config that someone changed by hand set back (U3)", async () => {
    const { address } = chain().listed.find(({ name }) => name === "w-1") ?? {};
    const { nodes: reached } = await chain().outputs();
    expect(reached["w-1"].address).toBe(address);
    const patch = '{"machine":{"sysctls":{"by.hand":"1"}}}';
    await chain().talosctl("patch", "mc", "--nodes", `${address}`, "--patch", patch);
    expect((await findDrift(chain())).drifts).toContain(
      'node w-1: machine config: machine.sysctls."by.hand" is 1, and should not be there',
    );
    expect(await told(() => chain().up())).toEqual(["w-1 ApplyConfiguration"]);
    await noDrift(chain());
  });

  test("gains a worker whose entry is added, and no other node is touched (S4.2)", async () => {
    chain().addNode(added);
    expect(await told(() => chain().up())).toEqual(["w-2 ApplyConfiguration"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1", "node/w-2"]);
  });

  test("replaces a machine that is gone: the new one gets its config, and its own Node (U3) [C13]", async () => {
    const before = await uid("w-2");
    await remake();
    expect(await told(() => chain().up())).toEqual(["w-2 ApplyConfiguration"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1", "node/w-2"]);
    expect(await uid("w-2")).not.toBe(before);
  });

  test("loses the worker whose entry is deleted: it is drained, reset and gone, and no other node is touched (S4.2)", async () => {
    chain().removeNode("w-2");
    expect(await told(() => chain().up())).toEqual(["w-2 Reset"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
  });
}
