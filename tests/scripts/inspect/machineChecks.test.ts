import { describe, expect, test } from "@jest/globals";
import { type Check, checkLines, clockCheck, variableChecks } from "../../../scripts/inspect/machineChecks.ts";

describe("the report of doctor (S6.3)", () => {
  test("has a line of at most 80 characters for each check, and what to do where it is not ok", () => {
    const checks: readonly Check[] = [
      { name: "git", state: "ok", found: "git version 2.47.3" },
      { name: "disk", state: "missing", found: "3.0 GiB free", whatToDo: "make room\nor set SLUICE_CACHE" },
      { name: "cache", state: "note", found: "x".repeat(100) },
    ];
    expect(checkLines(checks)).toEqual([
      "ok    git         git version 2.47.3",
      "MISS  disk        3.0 GiB free",
      "                  make room",
      "                  or set SLUICE_CACHE",
      `note  cache       ${"x".repeat(61)}…`,
    ]);
  });

  test("names variables, and never what is in them", () => {
    const known = [
      { name: "HCLOUD_TOKEN", use: "token of Hetzner" },
      { name: "OTHER", use: "another" },
    ];
    const checks = variableChecks({ HCLOUD_TOKEN: "geheim", OTHER: "" }, known);
    expect(checks.map(({ state, found }) => `${state} ${found}`)).toEqual([
      "ok HCLOUD_TOKEN is set: token of Hetzner",
      "note OTHER is not set: another",
    ]);
    expect(JSON.stringify(checks)).not.toContain("geheim");
  });

  const now = new Date("2026-11-19T20:00:00.500Z");
  test.each<[string, Date, boolean | undefined, string, string]>([
    ["is right", new Date("2026-11-01"), true, "ok", "2026-11-19T20:00:00Z"],
    ["cannot be compared", new Date("2026-11-01"), undefined, "ok", "2026-11-19T20:00:00Z"],
    ["is not synchronized", new Date("2026-11-01"), false, "note", "2026-11-19T20:00:00Z, not synchronized"],
    [
      "is behind files of the checkout",
      new Date("2026-12-01"),
      true,
      "missing",
      "2026-11-19T20:00:00Z, before files of this checkout",
    ],
  ])("of a clock that %s", (_, notBefore, isSynchronized, state, found) => {
    expect(clockCheck(now, notBefore, isSynchronized)).toMatchObject({ state, found });
  });
});
