import { expect, test } from "@jest/globals";
import { isFailure, type SoakResult, soakTable } from "../../../../scripts/tools/soak/table.ts";

const good = { commands: 1, resumed: 0, seconds: 40, untrue: [], lost: [], isHung: false };

test("S1.8 a soak run fails where a cluster never came up, is not what was reported, lost something or did not end, and not where it took a second command", () => {
  expect(isFailure(good)).toBe(false);
  expect(isFailure({ ...good, commands: 2, resumed: 3 })).toBe(false);
  for (const bad of [{ commands: 0 }, { untrue: ["a"] }, { lost: ["a"] }, { isHung: true }]) {
    expect(isFailure({ ...good, ...bad })).toBe(true);
  }
});

test("S1.8 the table of a soak counts every run once, kills apart, and names what has no result", () => {
  const results: SoakResult[] = [
    { ...good, seed: 1 },
    { ...good, seed: 2, resumed: 1, seconds: 90 },
    { ...good, seed: 3, commands: 2, seconds: 200 },
    { ...good, seed: 4, commands: 0, isHung: true },
    { ...good, seed: 5, untrue: ["kubectl: every node is Ready"] },
    { ...good, seed: 6, victim: "pulumi", next: "destroy", lost: ["left after destroy: server 1"] },
    { ...good, seed: 7, victim: "node", next: "up", commands: 2 },
  ];
  expect(soakTable([1, 2, 3, 4, 5, 6, 7, 8], results).split("\n").slice(1, -1)).toEqual([
    "                                 runs      share  seeds",
    "up with one `npm run up`         3 of 5   60.0 %",
    "  of these it resumed by itself  1 of 5   20.0 %  2",
    "  with another                   1 of 5   20.0 %  3",
    "  never                          1 of 5   20.0 %  4",
    "a kill, and then one up          0 of 1    0.0 %",
    "  of these it resumed by itself  0 of 1    0.0 %",
    "  with another                   1 of 1  100.0 %  7",
    "  never                          0 of 1    0.0 %",
    "a kill, and then one destroy     1 of 1  100.0 %",
    "  of these it resumed by itself  0 of 1    0.0 %",
    "  with another                   0 of 1    0.0 %",
    "  never                          0 of 1    0.0 %",
    "reported as up and not           1 of 7   14.3 %  5",
    "a command that did not end       1 of 7   14.3 %  4",
    "something was lost               1 of 7   14.3 %  6",
    "without a result                 1 of 8           8",
    "seconds of those up with one: median 40, at most 90",
  ]);
});
