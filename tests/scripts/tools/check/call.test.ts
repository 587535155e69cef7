import { describe, expect, test } from "@jest/globals";
import { readTestCall } from "../../../../scripts/tools/check/call.ts";
import { parts, wholeCheck } from "../../../../scripts/tools/check/parts.ts";

const read = (...args: readonly string[]) => {
  const { wanted, options } = readTestCall(args);
  return { wanted: wanted.map(({ name }) => name), options };
};

describe("npm test", () => {
  test("runs the whole check where no part is named, which is every part but those on request", () => {
    const { wanted, options } = read();
    expect(wanted).toEqual(wholeCheck.map(({ name }) => name));
    expect(parts.filter((part) => !wholeCheck.includes(part)).map(({ name }) => name)).toEqual(["bench", "variants"]);
    expect(options).toEqual([]);
  });

  test("runs a part on request when it is named", () => {
    expect(read("variants")).toEqual({ wanted: ["variants"], options: [] });
  });

  test("runs the named parts, in the given order", () => {
    expect(read("unit", "types")).toEqual({ wanted: ["unit", "types"], options: [] });
    expect(read("soak")).toEqual({ wanted: ["soak"], options: [] });
  });

  test.each([
    [["lab", "tests/lab/reboot.test.ts", "-t", "reboots once"]],
    [["unit", "-t", "unit"]],
    [["unit", "--help"]],
    [["go", "./hetzner", "-run", "TestServer"]],
  ])("passes on everything after a single part: %j", (args) => {
    const [part, ...options] = args;
    expect(read(...args)).toEqual({ wanted: [part], options });
  });

  test.each([
    [["units"], "the check has no part 'units'. See npm test -- --help."],
    [["--watch"], "the check has no part '--watch'. See npm test -- --help."],
    [["unit", "lab", "-t", "x"], "unexpected '-t x': options are for a single part. See npm test -- --help."],
    [["types", "unti"], "unexpected 'unti': types takes no options. See npm test -- --help."],
  ])("refuses %j", (args, message) => {
    expect(() => read(...args)).toThrow(message);
  });
});
