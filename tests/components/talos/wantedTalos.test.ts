import { describe, expect, test } from "@jest/globals";
import { talosFaults } from "../../../components/talos/wantedTalos.ts";

const [shared, own, other] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
const wanted = {
  installer: `factory.example.org/metal-installer/${shared}:v1.13.8`,
  version: "1.13.8",
  schematic: shared,
};

describe("the Talos that a node runs", () => {
  test.each([
    ["the installer's", shared, undefined],
    ["that of the machine's own image", own, own],
    ["one that it does not tell", "", undefined],
  ])("U3 may be of the schematic %s", (_, schematic, image) => {
    expect(talosFaults({ version: "1.13.8", schematic }, wanted, image)).toEqual([]);
  });

  test.each([undefined, own, ""])("U3 may be of no other schematic, whatever its image was: %s", (image) => {
    expect(talosFaults({ version: "1.13.8", schematic: other }, wanted, image)).toEqual([
      "runs schematic cccccccccccc..., not aaaaaaaaaaaa...",
    ]);
  });

  test("U3 may be of no other version", () => {
    expect(talosFaults({ version: "1.13.7", schematic: own }, wanted, own)).toEqual(["runs Talos 1.13.7, not 1.13.8"]);
  });
});
