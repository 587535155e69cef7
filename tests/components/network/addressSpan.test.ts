import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { addressSpan, isInOrder, spanHas, spansMeet } from "../../../components/network/addressSpan.ts";

describe("a span of addresses", () => {
  test.each([
    ["10.0.0.50-10.0.0.99", "10.0.0.50", "10.0.0.99"],
    ["10.0.0.64/27", "10.0.0.64", "10.0.0.95"],
    ["10.0.0.70/27", "10.0.0.64", "10.0.0.95"],
    ["10.0.0.7/32", "10.0.0.7", "10.0.0.7"],
  ])("S2.4 is the same in every notation: %s", (text, first, last) => {
    expect(addressSpan(text)).toEqual({ first, last });
  });

  test.each([
    ["10.0.0.50-10.0.0.50", true],
    ["10.0.0.99-10.0.1.0", true],
    ["10.0.0.99-10.0.0.100", true],
    ["10.0.1.0-10.0.0.99", false],
  ])("S2.4 is counted in numbers: %s", (text, inOrder) => {
    expect(isInOrder(addressSpan(text))).toBe(inOrder);
  });

  test("S2.4 overlaps another exactly if they share an address", () => {
    const address = fc.integer({ min: 0, max: 40 });
    const span = fc.tuple(address, address).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
    const written = ({ from, to }: { from: number; to: number }) => addressSpan(`10.0.0.${from}-10.0.0.${to}`);
    const numbers = Array.from({ length: 41 }, (_, number) => number);
    fc.assert(
      fc.property(span, span, (one, other) => {
        const has = (of: typeof one) => numbers.filter((number) => spanHas(written(of), `10.0.0.${number}`));
        expect(has(one)).toEqual(numbers.filter((number) => number >= one.from && number <= one.to));
        const common = has(one).some((number) => has(other).includes(number));
        expect(spansMeet(written(one), written(other))).toBe(common);
      }),
    );
  });
});
