import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { laneBefore, laneCount } from "../../../../components/talos/nodes/lanes.ts";

describe("lanes (S1.3)", () => {
  test.each([
    [1, 6, 1],
    [2, 6, 2],
    [4, 3, 3],
    ["25%", 6, 2],
    ["25%", 8, 2],
    ["1%", 6, 1],
    ["100%", 6, 6],
    ["2", 6, 2],
  ])("%j of %i nodes are %i at the same time", (parallel, nodes, count) => {
    expect(laneCount(parallel, nodes)).toBe(count);
  });

  test.each([0, -1, 1.5, "0%", "none", "150"])("%j is refused, or cut to the number of nodes", (parallel) => {
    if (parallel === "150") expect(laneCount(parallel, 6)).toBe(6);
    else expect(() => laneCount(parallel, 6)).toThrow(`not '${parallel}'`);
  });

  test("are one after another when sequential", () => {
    expect(laneBefore(1, 4)).toEqual([undefined, 0, 1, 2]);
  });

  test("never change more nodes at once than allowed, and delay none without need", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 60 }), (parallel, nodes) => {
        const before = laneBefore(parallel, nodes);
        const heads = before.filter((place) => place === undefined);
        expect(heads).toHaveLength(Math.min(parallel, nodes));
        const waited = before.filter((place) => place !== undefined);
        expect(new Set(waited).size).toBe(waited.length);
        before.forEach((place, node) => {
          if (place !== undefined) expect(place).toBeLessThan(node);
        });
      }),
    );
  });

  test("do not move any node when a list grows at its end", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 5, max: 30 }), (parallel, nodes) => {
        expect(laneBefore(parallel, nodes + 1).slice(0, nodes)).toEqual(laneBefore(parallel, nodes));
      }),
    );
  });
});
