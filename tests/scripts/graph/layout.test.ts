import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Item, Stage } from "../../../scripts/graph/chain.ts";
import { type Box, layout } from "../../../scripts/graph/layout.ts";

const item = (title: string, parts: Partial<Item> = {}): Item => ({
  title,
  kinds: [],
  nodes: [],
  layer: 0,
  role: "proven",
  ...parts,
});
const gate = (name: string) => ({ name, deadlineSeconds: 60 });

describe("the layout of a chain", () => {
  test("puts stages and gates below each other, and each node into one column", () => {
    const nodes = ["cp-1", "w-1"];
    const stages: Stage[] = [
      { items: [item("network"), item("server", { nodes, layer: 1 })], links: [[0, 1]], gates: [gate("Preflight")] },
      { items: [item("config", { nodes })], links: [], gates: [gate("Stages"), gate("Other")] },
      { items: [item("bootstrap"), item("members", { layer: 1 })], links: [[0, 1]], gates: [] },
    ];
    const { boxes, arrows, width, height } = layout(stages, nodes, 0);
    const named = (name: string) => boxes.filter(({ lines }) => lines[0] === name);
    const [server, config] = named("cp-1");
    expect(server?.x).toBe(config?.x);
    expect(named("Stages")[0]?.y).toBe(named("Other")[0]?.y);
    const order = ["network", "cp-1", "Preflight", "config", "Stages", "bootstrap"];
    const tops = order.map((name) => named(name)[0]?.y ?? 0);
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    expect(named("bootstrap")[0]?.y).toBe(named("members")[0]?.y);
    // From the network to each server, through each gate in its lane, from one part to the next.
    expect(arrows).toHaveLength(2 + 2 + 2 + 2 + 1 + 1);
    expect([width, height]).toEqual([900, Math.max(...boxes.map((box) => box.y + box.height)) + 20]);
  });

  const names = fc.stringMatching(/^[a-z-]{1,30}$/);
  const items = (nodes: readonly string[]) =>
    fc.array(
      fc.record({
        title: names,
        kinds: fc.array(names, { maxLength: 12 }),
        nodes: fc.subarray([...nodes]),
        layer: fc.nat(3),
        role: fc.constantFrom("proven" as const, "unproven" as const, "computed" as const),
      }),
      { maxLength: 6 },
    );
  const chains = fc.uniqueArray(names, { minLength: 1, maxLength: 20 }).chain((nodes) =>
    fc.record({
      nodes: fc.constant(nodes),
      stages: fc.array(fc.record({ items: items(nodes), links: fc.constant([]), gates: fc.constant([gate("Etcd")]) }), {
        minLength: 1,
        maxLength: 5,
      }),
    }),
  );

  test("never puts a box onto another or outside of the picture, whatever the chain", () => {
    fc.assert(
      fc.property(chains, ({ nodes, stages }) => {
        const { boxes, width, height } = layout(stages, nodes, 50);
        const solid = boxes.filter(({ kind }) => kind !== "stage");
        for (const [place, box] of solid.entries()) {
          expect([box.x >= 0, box.y >= 50, box.x + box.width <= width, box.y + box.height <= height]).not.toContain(
            false,
          );
          expect(solid.slice(place + 1).filter((other) => overlap(box, other))).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function overlap(a: Box, b: Box): boolean {
  const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  return !apart;
}
