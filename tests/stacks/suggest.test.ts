import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { clusterConfigSchema } from "../../stacks/schema.ts";
import { suggest } from "../../stacks/suggest.ts";

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

  test.each(["", "x", "longhorn", "calico", "production"])("is not made for '%s', which is near to nothing", (word) => {
    expect(suggest(word, known)).toBeUndefined();
  });

  test("is the word itself for any key with one letter dropped", () => {
    fc.assert(
      fc.property(fc.constantFrom(...known), fc.nat(), (word, position) => {
        const at = position % word.length;
        expect(suggest(word.slice(0, at) + word.slice(at + 1), known)).toBe(word);
      }),
    );
  });
});
