import { describe, expect, test } from "@jest/globals";
import { driftReport, readDrift } from "../../../scripts/workflows/driftReport.ts";

// As CLI 3.259 wrote it for two dynamic resources, of which one had been changed and one was gone.
const found = {
  code: 7,
  stdout: `Previewing refresh (home):
  pulumi:pulumi:Stack: (same)
    [urn=urn:pulumi:home::sluice::pulumi:pulumi:Stack::sluice-home]
    ~ pulumi-nodejs:dynamic/test:Node: (update)
        [id=x]
        [urn=urn:pulumi:home::sluice::pulumi-nodejs:dynamic/test:Node::w-1]
        name : "w-1"
      ~ size: (json) {
          ~ a: "b" => "c"
        }
        token: [secret]
    - pulumi-nodejs:dynamic/test:Node: (delete)
        [id=x]
        [urn=urn:pulumi:home::sluice::pulumi-nodejs:dynamic/test:Node::w-2]
        --outputs:--
      - name : "w-2"
      - token: [secret]
Resources:
    ~ 1 to update
    - 1 to delete
    1 unchanged
`,
  stderr: "error: no changes were expected for refresh but changes were proposed\n",
};

describe("U3 what a refresh said is read as", () => {
  test("no drift where it expected none and found none", () => {
    expect(readDrift({ code: 0, stdout: "Resources:\n    8 unchanged\n", stderr: "" })).toEqual({ state: "none" });
  });

  test("drift, with every resource that differs by its name", () => {
    expect(readDrift(found)).toMatchObject({
      state: "found",
      resources: [
        { name: "w-1", type: "pulumi-nodejs:dynamic/test:Node", how: "differs" },
        { name: "w-2", type: "pulumi-nodejs:dynamic/test:Node", how: "is gone" },
      ],
    });
  });

  test("drift also from a CLI that has no exit code of its own for it", () => {
    expect(readDrift({ ...found, code: 255 }).state).toBe("found");
  });

  test("neither where it failed, for then nothing is known", () => {
    const failed = { code: 1, stdout: "Previewing refresh (home):\n", stderr: "error: node is unreachable\n" };
    expect(readDrift(failed)).toEqual({
      state: "failed",
      text: "Previewing refresh (home):\nerror: node is unreachable",
    });
  });
});

test("U3 the report names what drifted first and says what to do last", () => {
  const lines = driftReport("home", readDrift(found)).split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "home: 2 resources have drifted:",
    "  w-1 differs (pulumi-nodejs:dynamic/test:Node)",
    "  w-2 is gone (pulumi-nodejs:dynamic/test:Node)",
  ]);
  expect(lines.at(-1)).toContain("npm run up -- home --refresh");
});
