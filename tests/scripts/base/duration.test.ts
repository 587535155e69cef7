import { describe, expect, test } from "@jest/globals";
import { duration } from "../../../scripts/base/duration.ts";

describe("a duration", () => {
  test.each([
    [0, "0s"],
    [8.4, "8s"],
    [59.4, "59s"],
    [59.6, "1m00s"],
    [125, "2m05s"],
    [3599.6, "1h00m"],
    [3720, "1h02m"],
    [36_000, "10h00m"],
  ])("of %d s reads %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});
