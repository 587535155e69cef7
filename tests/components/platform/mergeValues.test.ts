import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { mergeValues } from "../../../components/platform/mergeValues.ts";

test("maps are merged key by key, and the later value wins", () => {
  const base = { hubble: { relay: { enabled: true }, ui: { enabled: true } }, debug: false };
  expect(mergeValues(base, { hubble: { ui: { enabled: false } }, mtu: 1400 })).toEqual({
    hubble: { relay: { enabled: true }, ui: { enabled: false } },
    debug: false,
    mtu: 1400,
  });
});

test("lists are replaced as one value, and so is a map that is no map on the other side", () => {
  expect(mergeValues({ a: ["x", "y"], b: { c: 1 }, d: 2 }, { a: ["z"], b: null, d: { e: 3 } })).toEqual({
    a: ["z"],
    b: null,
    d: { e: 3 },
  });
});

test("merging nothing over values, or values over themselves, changes nothing", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (values) => {
      expect(mergeValues(values, {})).toEqual(values);
      expect(mergeValues({}, values)).toEqual(values);
      expect(mergeValues(values, values)).toEqual(values);
    }),
  );
});
