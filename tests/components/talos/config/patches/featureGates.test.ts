import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { featureGatesArgument } from "../../../../../components/talos/config/patches/featureGates.ts";

describe("feature gates (S2.1)", () => {
  test("are sorted and joined by commas", () => {
    expect(featureGatesArgument({ UserNamespacesSupport: true, ImageVolume: true, AnyVolume: false })).toStrictEqual({
      "feature-gates": "AnyVolume=false,ImageVolume=true,UserNamespacesSupport=true",
    });
  });

  test("give no argument if none is set (S2.2)", () => {
    expect(featureGatesArgument({})).toStrictEqual({});
  });

  test("give the same argument in any order, and lose none", () => {
    const gates = fc.dictionary(fc.stringMatching(/^[A-Z][A-Za-z]{0,9}$/), fc.boolean(), { minKeys: 1 });
    fc.assert(
      fc.property(gates, (gates) => {
        const reversed = Object.fromEntries(Object.entries(gates).reverse());
        const { "feature-gates": argument = "" } = featureGatesArgument(gates);
        expect(featureGatesArgument(reversed)).toStrictEqual({ "feature-gates": argument });
        const settings = argument.split(",");
        expect(settings).toStrictEqual([...settings].sort());
        expect(settings.length).toBe(Object.keys(gates).length);
      }),
    );
  });
});
