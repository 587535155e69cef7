import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { saidOnce } from "../../../components/engine/saidOnce.ts";

const print = console.error;
afterEach(() => {
  console.error = print;
});

describe("an error that the engine prints", () => {
  test("is not printed by the SDK before, unlike all others, and the next time it is", () => {
    const printed = jest.fn();
    console.error = printed;
    const [one, other] = [saidOnce(new Error("one")), saidOnce(new Error("other"))];
    // As @pulumi/pulumi/cmd/dynamic-provider does.
    const sdk = (error: Error) => console.error(`${error}: ${error.stack}`);
    console.error("between", one);
    sdk(one);
    sdk(other);
    sdk(new Error("third"));
    expect(printed.mock.calls.map(([first]) => String(first).split("\n")[0])).toEqual([
      "between",
      "Error: third: Error: third",
    ]);
  });
});
