import { expect, test } from "@jest/globals";
import { resumeChoice } from "../../../scripts/resume/resumeOptions.ts";

test.each<[off: string | undefined, options: readonly string[]]>([
  [undefined, []],
  [undefined, ["--yes", "--skip-preview"]],
  [undefined, ["--yes", "--refresh"]],
  [undefined, ["-yr"]],
  [undefined, ["--diff", "--message", "-"]],
  ["--no-resume", ["--yes", "--no-resume"]],
  ["--replace", ["--replace", "urn:a", "--yes"]],
  ["--target-replace", ["--target-replace=urn:a"]],
  ["--plan", ["--plan=plan.json", "--yes"]],
  ["--json", ["--json", "--yes"]],
  // The user has seen none of these findings.
  ["--refresh", ["--refresh"]],
  ["-r", ["-r"]],
])("S5.2 an up is resumed unless an option forbids it: %s in %j", (off, options) => {
  expect(resumeChoice(options).off).toBe(off);
});

test("S5.2 what was confirmed once is resumed without a question, and Sluice's own option never reaches the engine", () => {
  expect(resumeChoice(["--diff", "--no-resume"])).toMatchObject({
    options: ["--diff"],
    confirmed: ["--diff", "--yes", "--skip-preview"],
  });
  expect(resumeChoice(["--yes"])).toMatchObject({ options: ["--yes"], confirmed: ["--yes"] });
});
