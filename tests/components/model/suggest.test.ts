import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { suggest } from "../../../components/model/suggest.ts";
import { clusterConfigSchema } from "../../../stacks/schema/clusterConfig.ts";

const known = Object.keys(clusterConfigSchema.shape);

describe("a suggestion", () => {
  test.each([
    ["clustername", "clusterName"],
    ["nodse", "nodes"],
    ["netwrok", "network"],
    ["instal", "install"],
    ["proxmx", "proxmox"],
    ["kubernetesversion", "kubernetesVersion"],
  ])("for %s is %s", (word, expected) => {
    expect(suggest(word, known)).toBe(expected);
  });

  test.each(["", "x", "longhorn", "calico", "production"])(
    "is not made for '%s', which is similar to no known word",
    (word) => {
      expect(suggest(word, known)).toBeUndefined();
    },
  );

  test("is the key itself for any key with one letter dropped", () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(), (word, position) => {
        const at = position % word.length;
        expect(suggest(word.slice(0, at) + word.slice(at + 1), known)).toBe(word);
      }),
    );
  });

  test("is the key itself for any key with two neighbouring letters swapped", () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(), (word, position) => {
        const at = position % (word.length - 1);
        const swapped = word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2);
        expect(suggest(swapped, known)).toBe(word);
      }),
    );
  });
});
