import { expect, test } from "@jest/globals";
import { takeLab } from "../../../scripts/lab/labOption.ts";

test.each([
  [["home", "--yes"], undefined, ["home", "--yes"]],
  [["home", "--lab"], "", ["home"]],
  [["home", "--lab", "--yes"], "", ["home", "--yes"]],
  [["home", "--yes", "--lab", "second"], "second", ["home", "--yes"]],
  [["home", "--lab=second", "--yes"], "second", ["home", "--yes"]],
  [["--lab", "home"], "", ["home"]],
])("%j: the lab %j, and to the engine %j", (args, lab, rest) => {
  expect(takeLab(args)).toEqual({ lab, rest });
});
