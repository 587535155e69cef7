import { describe, expect, test } from "@jest/globals";
import type { RunningProcess } from "../../../scripts/base/processList.ts";
import { leftovers } from "../../../scripts/orphans/leftovers.ts";
import { isStale } from "../../../scripts/stack/locks.ts";

const mark = "this stack";
const one = (pid: number, parent: number, name: string, more: Partial<RunningProcess> = {}): RunningProcess => {
  return { pid, parent, name, start: pid, innerPid: pid, value: mark, ...more };
};
const init = one(1, 0, "init", { value: undefined });

describe("what a killed engine leaves running (S5.3)", () => {
  test.each<[string, RunningProcess[], number[]]>([
    ["is a plugin whose engine is gone", [one(5, 1, "pulumi-resource")], [5]],
    ["is everything below such a plugin", [one(5, 1, "sh"), one(6, 5, "node")], [5, 6]],
    ["is no plugin of an engine that runs", [one(4, 1, "pulumi"), one(5, 4, "pulumi-resource"), one(6, 5, "sh")], []],
    [
      "is not the program of the lab in which an engine runs",
      [one(3, 1, "sluice-lab"), one(4, 3, "pulumi"), one(5, 4, "node")],
      [],
    ],
    [
      "is not the program of a lab that is about to start an engine",
      [one(3, 1, "sluice-lab"), one(4, 3, "sluice-lab")],
      [],
    ],
    [
      "is not what brings an engine a proxy, and waits for it",
      [one(3, 1, "node"), one(4, 3, "pulumi"), one(5, 4, "pulumi-resource")],
      [],
    ],
    [
      "is only what has no engine, where another engine of the stack runs",
      [one(4, 1, "pulumi"), one(5, 4, "node"), one(9, 1, "node")],
      [9],
    ],
    ["is nothing of another stack", [one(5, 1, "pulumi-resource", { value: "other" })], []],
    ["is no process without a mark", [one(5, 1, "pulumi-resource", { value: undefined })], []],
  ])("%s", (_, processes, expected) => {
    expect(leftovers([init, ...processes], mark).map(({ pid }) => pid)).toEqual(expected);
  });
});

describe("the lock of an engine (S5.3)", () => {
  const content = { pid: 7, username: "me", hostname: "here", timestamp: "2026-11-19T10:00:00Z" };
  test.each<[string, RunningProcess[], string, boolean]>([
    ["is stale where no process has its number", [init], "here", true],
    ["is stale where the number is another program's", [one(7, 1, "bash")], "here", true],
    ["is held by an engine of this namespace", [one(7, 1, "pulumi")], "here", false],
    ["is held by an engine in a namespace below", [one(4711, 1, "pulumi", { innerPid: 7 })], "here", false],
    [
      "is stale where the number is that of another stack's engine",
      [one(7, 1, "pulumi", { value: "other" })],
      "here",
      true,
    ],
    ["is held by an engine without a mark", [one(7, 1, "pulumi", { value: undefined })], "here", false],
    ["is nothing to judge about where it was written on another host", [init], "there", false],
  ])("%s", (_, processes, host, expected) => {
    expect(isStale({ file: "lock", content }, mark, processes, host)).toBe(expected);
  });

  test("is stale where it was cut off while it was written", () => {
    expect(isStale({ file: "lock", content: undefined }, mark, [one(7, 1, "pulumi")], "here")).toBe(true);
  });
});
