import { describe, expect, test } from "@jest/globals";
import { operations } from "../../../components/platform/chartVersion.provider.ts";

const state = { chart: "cilium", version: "1.18.8", key: "cilium.version", row: "urn:of:it" };
const to = (version: string, more: object = {}) => ({ ...state, version, ...more });

describe("S8.3 the version of a chart that supports steps of one minor version", () => {
  test.each([
    ["1.18.9", "another patch release"],
    ["1.18.1", "an older patch release"],
    ["1.19.0", "the next minor version"],
    ["1.17.14", "the minor version before"],
    ["2.0.0", "another major version, which cannot be judged"],
  ])("may become %s: %s", (version) => {
    expect(operations.refusal(state, to(version))).toBeUndefined();
    expect(operations.difference(state, to(version))).toEqual({ kind: "record" });
  });

  test.each([
    ["1.20.1", "1.19"],
    ["1.16.0", "1.17"],
  ])("may not become %s before %s", (version, first) => {
    expect(operations.refusal(state, to(version))?.message).toBe(
      [
        "SLU-K202 A chart cannot change to this version in one step",
        "  where:      cilium",
        `  seen:       it is 1.18.8, and would be ${version}`,
        "  cause:      Its version was changed by more than one minor version, up or down, which its publisher does not support. Nothing was changed.",
        `  what to do: Go there one minor version at a time: set cilium.version to a release of ${first}, run \`npm run up -- <environment>\`, and so on until ${version}.`,
      ].join("\n"),
    );
  });

  test("is compared with the one that was installed, and is no change if it is the same", () => {
    expect(operations.difference(state, state)).toEqual({ kind: "none" });
    expect(operations.notes(state, state)).toEqual([]);
    expect(operations.notes(state, to("1.18.9"))).toEqual([]);
  });

  test("brings other defaults, which the preview says, with the value that keeps those of before", () => {
    expect(operations.notes(state, to("1.19.2"))).toEqual([
      {
        text: 'cilium 1.18.8 -> 1.19.2: defaults become those of 1.19; to keep those of 1.18, set cilium.values.upgradeCompatibility: "1.18"',
        as: "info",
      },
    ]);
    expect(operations.notes(state, to("1.19.2", { upgradeCompatibility: "1.16" }))).toEqual([
      { text: "cilium 1.18.8 -> 1.19.2, with the defaults of 1.16", as: "row" },
    ]);
  });
});
