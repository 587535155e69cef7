// What holds on every platform alike, for a suite whose cluster is one control plane and one worker.
import { expect, test } from "@jest/globals";
import type { Chain } from "./chain.ts";
import type { ChainNode } from "./chainEnvironment.ts";
import { findDrift, noDrift } from "./drifts.ts";

export interface OnPlatform {
  /** The suite's own, once it is up. */
  readonly chain: () => Chain;
  /** A worker that comes and goes, `w-2`; its machine is there from the beginning where nobody makes machines. */
  readonly added: ChainNode;
  /** Puts another machine into the place of that worker's by hand, and tells the environment what it has to know of it. */
  readonly remake: () => Promise<void>;
}

/** The tests, from a cluster that is up to one that is as it was. */
export function holdsOnEveryPlatform({ chain, added, remake }: OnPlatform): void {
  const nodes = async () => {
    await chain().kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=0");
    return (await chain().kubectl("get", "nodes", "--output", "name")).trim().split("\n");
  };
  const uid = (name: string) => chain().kubectl("get", "node", name, "--output", "jsonpath={.metadata.uid}");
  /** What was told to nodes in the meantime: `node call`. A server is called as its node, with the cluster's name before it. */
  async function told(work: () => Promise<unknown>): Promise<string[]> {
    const before = chain().lab.facts.all.length;
    await work();
    const calls = chain()
      .lab.facts.all.slice(before)
      .filter(({ subject, what }) => what === "call" && /^(test-)?(cp|w)-\d$/.test(subject));
    return calls.map(({ subject, value }) => `${subject.replace("test-", "")} ${value}`).sort();
  }

  test("is a cluster that Flux reconciles, from nothing (S3.1, S4.7)", async () => {
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
    const greeting = ["--namespace", "hello", "get", "secret", "greeting", "--output", "jsonpath={.data.greeting}"];
    expect(await chain().kubectl(...greeting)).not.toBe("");
    expect(await chain().outputs()).toMatchObject({
      gitOpsRevision: expect.stringMatching(/^main@sha1:[0-9a-f]{40}$/),
    });
  });

  test("is found as it was, and left alone by an update with nothing to do (S1.6, U3)", async () => {
    expect(await chain().run("refresh", "--expect-no-changes")).toMatchObject({ code: 0, steps: [] });
    expect((await chain().up()).steps).toEqual([]);
  });

  test("takes over a change that needs a reboot, each node told of before (complaint 9, S1.3, U2)", async () => {
    chain().configure({ patches: [{ name: "variable", patch: { machine: { env: { A_VARIABLE: "a" } } } }] });
    const { stdout, stderr } = await chain().run("preview");
    for (const name of ["cp-1", "w-1"])
      expect(stdout + stderr).toMatch(new RegExp(`${name}: \\d changes? .*, ${name} REBOOTS`));
    const calls = await told(() => chain().up());
    expect(calls).toEqual(["cp-1 ApplyConfiguration", "cp-1 Reboot", "w-1 ApplyConfiguration", "w-1 Reboot"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
  });

  test("has a config mended that somebody changed by hand (U3)", async () => {
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

  test("is joined by a worker whose line is added, and nobody else is touched (S4.2)", async () => {
    chain().addNode(added);
    expect(await told(() => chain().up())).toEqual(["w-2 ApplyConfiguration"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1", "node/w-2"]);
  });

  test("takes another machine in the place of one that is gone: it gets its config, and a Node of its own (complaint 13, U3)", async () => {
    const before = await uid("w-2");
    await remake();
    expect(await told(() => chain().up())).toEqual(["w-2 ApplyConfiguration"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1", "node/w-2"]);
    expect(await uid("w-2")).not.toBe(before);
  });

  test("is as before when the worker's line is deleted: it is drained, reset and gone, and nobody else is touched (S4.2)", async () => {
    chain().removeNode("w-2");
    expect(await told(() => chain().up())).toEqual(["w-2 Reset"]);
    expect(await nodes()).toEqual(["node/cp-1", "node/w-1"]);
  });
}
