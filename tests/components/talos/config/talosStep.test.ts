import { describe, expect, test } from "@jest/globals";
import { unsupportedTalosStep } from "../../../../components/talos/config/talosStep.ts";

describe("S8.3 a step from one Talos version to another", () => {
  test.each([
    ["1.12.6", "1.12.6"],
    ["1.12.1", "1.12.6"],
    ["1.12.6", "1.12.1"],
    ["1.12.6", "1.13.8"],
    ["1.13.8", "1.12.6"],
    ["1.13.8", "1.14.1"],
    ["1.13.0-rc.1", "1.13.0"],
    ["v1.12.6", "v1.13.8"],
  ])("from %s to %s is allowed", (from, to) => {
    expect(unsupportedTalosStep(from, to)).toBeUndefined();
  });

  test.each([
    ["1.11.6", "1.13.8", "1.12"],
    ["1.12.6", "1.14.1", "1.13"],
    ["1.14.1", "1.12.6", "1.13"],
    ["1.13.8", "1.11.6", "1.12"],
  ])("from %s to %s is refused, with the minor version to go to first", (from, to, next) => {
    const step = unsupportedTalosStep(from, to);
    expect(step?.seen).toBe(`it runs Talos ${from}, and would get ${to}`);
    expect(step?.remedy).toContain(`set talosVersion to a release of ${next}, run \`npm run up -- <environment>\``);
    expect(step?.remedy).toContain(`so on until ${to}`);
  });

  test("is judged by what the installer accepts, even if it is a single minor version", () => {
    // Talos 1.11 refuses hosts from 1.13 on, and 1.12 those before 1.10.
    expect(unsupportedTalosStep("1.12.6", "1.11.6")).toBeUndefined();
    expect(unsupportedTalosStep("1.9.0", "1.12.6")?.seen).toContain("it runs Talos 1.9.0");
  });

  test("is not judged if a version cannot be read", () => {
    expect(unsupportedTalosStep("", "1.13.8")).toBeUndefined();
  });
});
