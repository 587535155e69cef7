import { describe, expect, test } from "@jest/globals";
import { schematicId } from "../../../../components/images/schematic.ts";
import { talosFaults } from "../../../../components/talos/config/wantedTalos.ts";

const [shared, own, other] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
const wants = (schematic: string | undefined) => ({
  installer: `factory.example.org/metal-installer/${schematic}:v1.13.8`,
  version: "1.13.8",
  schematic,
});
const wanted = wants(shared);
const runs = (schematic: string, changes = {}) => ({ version: "1.13.8", schematic, stage: "running", ...changes });

describe("the Talos that a node runs", () => {
  test.each([
    ["the installer's", shared, undefined],
    ["that of the machine's own image", own, own],
  ])("U3 may be of the schematic %s", (_, schematic, image) => {
    expect(talosFaults(runs(schematic), wanted, image)).toEqual([]);
  });

  test.each([undefined, own, ""])("U3 may not be of another schematic, whatever its image was: %s", (image) => {
    expect(talosFaults(runs(other), wanted, image)).toEqual(["runs schematic cccccccccccc..., not aaaaaaaaaaaa..."]);
  });

  test("U3 may not be of another version", () => {
    expect(talosFaults(runs(own, { version: "1.13.7" }), wanted, own)).toEqual(["runs Talos 1.13.7, not 1.13.8"]);
  });

  test("U3 may not be of a bare installer, which has no extensions [C19]", () => {
    expect(talosFaults(runs(""), wanted)).toEqual([
      "runs an image without a schematic, as a plain installer leaves it: its extensions are gone. It should be aaaaaaaaaaaa...",
    ]);
  });

  test("U3 may be of a bare installer if no extension is configured", () => {
    expect(talosFaults(runs(""), wants(schematicId({ extensions: [], kernelArgs: [] })))).toEqual([]);
    expect(talosFaults(runs(""), wants(undefined))).toEqual([]);
  });

  test.each(["installing", "rebooting"])("is that of its boot medium until it is installed: %s", (stage) => {
    expect(talosFaults(runs("", { stage, version: "1.13.9" }), wanted)).toEqual([]);
  });
});
