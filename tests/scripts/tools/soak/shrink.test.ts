import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { shrink } from "../../../../scripts/tools/soak/shrink.ts";

describe("shrinking the faults of a failed soak run", () => {
  test("keeps exactly the faults that the failure needs (S5.2)", async () => {
    const sets = fc.uniqueArray(fc.nat(9), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sets, fc.nat(63), async (all, mask) => {
        const needed = all.filter((_, place) => (mask >> place) % 2 === 1);
        const smallest = await shrink(all, async (part) => needed.every((one) => part.includes(one)));
        expect(smallest).toEqual(needed);
      }),
    );
  });

  test("asks once for each fault, and returns all of them if the failure does not repeat", async () => {
    const asked: string[] = [];
    const smallest = await shrink(["a", "b"], async (part) => {
      asked.push(part.join());
      return false;
    });
    expect([smallest, asked]).toEqual([
      ["a", "b"],
      ["b", "a"],
    ]);
  });
});
