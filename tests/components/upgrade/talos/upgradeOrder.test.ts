import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { inLanes, upgradeSteps } from "../../../../components/upgrade/talos/upgradeOrder.ts";

const node = (name: string) => ({
  name,
  role: name.startsWith("cp") ? ("controlplane" as const) : ("worker" as const),
});
const names = (nodes: readonly string[], parallel: number | string = 1) =>
  upgradeSteps(nodes.map(node), parallel as number).map((step) => [step.lanes, ...step.nodes.map(({ name }) => name)]);

describe("S8.3 the order of an upgrade", () => {
  test.each([
    [
      "a worker is first, then the control planes, then the other workers",
      1,
      ["cp-1", "cp-2", "cp-3", "w-1", "w-2"],
      [
        [1, "w-1"],
        [1, "cp-1", "cp-2", "cp-3"],
        [1, "w-2"],
      ],
    ],
    [
      "only the other workers go several at a time",
      2,
      ["cp-1", "w-1", "w-2", "w-3", "w-4"],
      [
        [1, "w-1"],
        [1, "cp-1"],
        [2, "w-2", "w-3", "w-4"],
      ],
    ],
    [
      "a share is one of the other workers",
      "50%",
      ["cp-1", "w-1", "w-2", "w-3", "w-4"],
      [
        [1, "w-1"],
        [1, "cp-1"],
        [2, "w-2", "w-3", "w-4"],
      ],
    ],
    [
      "numbers in names count as numbers",
      1,
      ["w-10", "w-2", "cp-1"],
      [
        [1, "w-2"],
        [1, "cp-1"],
        [1, "w-10"],
      ],
    ],
    ["without workers there are only control planes", 1, ["cp-2", "cp-1"], [[1, "cp-1", "cp-2"]]],
    ["one worker alone needs no lanes", 3, ["w-1"], [[1, "w-1"]]],
    ["nothing is to be done without nodes", 1, [], []],
  ])("%s", (_, parallel, all, expected) => {
    expect(names(all, parallel)).toEqual(expected);
  });

  test("has every node once, and never two control planes at a time, whatever the nodes are", () => {
    const some = fc.uniqueArray(
      fc.constantFrom("cp-1", "cp-2", "cp-3", ...Array.from({ length: 9 }, (_, at) => `w-${at}`)),
    );
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 5 }), (all, parallel) => {
        const steps = upgradeSteps(all.map(node), parallel);
        expect(steps.flatMap((step) => step.nodes.map(({ name }) => name)).sort()).toEqual([...all].sort());
        for (const { nodes, lanes } of steps) {
          expect(lanes === 1 || nodes.every(({ role }) => role === "worker")).toBe(true);
        }
      }),
    );
  });
});

describe("the lanes of a step", () => {
  const run = async (nodes: readonly string[], lanes: number, fails: readonly string[]) => {
    const log: string[] = [];
    const failures = await inLanes({ nodes, lanes }, async (name) => {
      log.push(`+${name}`);
      await new Promise((done) => setImmediate(done));
      log.push(`-${name}`);
      if (fails.includes(name)) throw new Error(name);
    });
    return { log: log.join(" "), failed: failures.map(({ node: name }) => name) };
  };

  test("have at most so many nodes at once", async () => {
    expect((await run(["a", "b", "c"], 2, [])).log).toBe("+a +b -a +c -b -c");
    expect((await run(["a", "b"], 1, [])).log).toBe("+a -a +b -b");
  });

  test("start no further node after the first failure, and wait for those that have been started", async () => {
    expect(await run(["a", "b", "c", "d"], 2, ["a"])).toEqual({ log: "+a +b -a -b", failed: ["a"] });
    expect(await run(["a", "b", "c"], 2, ["a", "b"])).toEqual({ log: "+a +b -a -b", failed: ["a", "b"] });
  });
});
