import { expect, test } from "@jest/globals";
import { surplusArgument } from "../../../scripts/deploy/surplusArgument.ts";

test.each<[readonly string[], string | undefined]>([
  [[], undefined],
  [["mine2"], "mine2"],
  [["--yes", "mine2"], "mine2"],
  [["--target=a", "mine2"], "mine2"],
  [["--message", "more nodes", "mine2"], "mine2"],
  [["--target", "urn:pulumi:a", "--diff"], undefined],
  [["-m", "more nodes"], undefined],
])("the argument of %j that no option takes is %p", (options, expected) => {
  expect(surplusArgument(options)).toBe(expected);
});
