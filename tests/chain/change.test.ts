// A cluster whose list of nodes and whose configs change: nodes leave it, come, are told something new, and are replaced.
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { Chain, type Run } from "../lab/support/chain.ts";

jest.setTimeout(300_000);

/** What changes something on nodes of the lab, in its order: `node call`. */
function calls(chain: Chain, since: number): string[] {
  return chain.lab.facts.all
    .slice(since)
    .filter(({ what, subject }) => what === "call" && subject.startsWith("test-"))
    .map(({ subject, value }) => `${subject} ${value}`);
}

/** What a run did, gates aside. */
function steps({ steps: all }: Run): string[] {
  return all
    .filter(({ type }) => !type.includes("dynamic/gates:"))
    .map(({ op, type, name }) => `${op} ${type.split(":").at(-1)} ${name}`);
}

describe("three control planes and two workers", () => {
  let chain: Chain;
  const nodes = () => chain.kubectl("get", "nodes", "--output", "jsonpath={.items[*].metadata.name}");
  const without = (name: string) => chain.configure({ nodes: chain.listed.filter((node) => node.name !== name) });
  const now = () => chain.lab.facts.all.length;

  beforeAll(async () => {
    chain = await Chain.of({ controlPlanes: 3, workers: 2 });
    await chain.up();
  });
  afterAll(() => chain?.down());

  test("lose a worker whose line is deleted: it is drained, reset and deleted, and nobody else is touched (S4.2)", async () => {
    const before = now();
    without("w-2");
    const preview = await chain.run("preview");
    expect(preview.stdout).toContain("w-2 LEAVES the cluster");
    const run = await chain.up();
    expect(calls(chain, before)).toEqual(["test-w-2 Reset"]);
    expect(steps(run)).toEqual([
      "update Members test",
      "delete NodeConfiguration test-w-2",
      "delete NodeMachineConfig test-w-2",
      "delete Server test-w-2",
    ]);
    expect((await nodes()).split(" ").sort()).toEqual(["cp-1", "cp-2", "cp-3", "w-1"]);
  });
});
