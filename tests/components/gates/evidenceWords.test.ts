import { expect, test } from "@jest/globals";
import { shortRevision } from "../../../components/gates/evidenceWords.ts";
import { gates } from "../../../components/gates/registry.ts";

test.each(gates)(
  "the words of $name are read from whatever an older or newer version has kept, and never fail",
  (gate) => {
    for (const evidence of [{}, { nodes: 7, machines: null, images: [], revisions: "x" }]) {
      expect(typeof gate.words(evidence)).toBe("string");
    }
  },
);

test("a revision is shortened to what distinguishes it from others", () => {
  expect(shortRevision(`main@sha1:${"9b0b4cb8".repeat(5)}`)).toBe("main@sha1:9b0b4cb8");
  expect(shortRevision("v1.2.3")).toBe("v1.2.3");
  expect(shortRevision(undefined)).toBe("");
});
