// What the next `up` would do with adopted resources of a platform, as the engine's preview records it.
import { expect, test } from "@jest/globals";
import { plannedChanges } from "../../../scripts/adopt/plannedChanges.ts";

const urn = (name: string) => `urn:pulumi:mine::sluice::hcloud:index/server:Server::${name}`;
const step = (name: string, op: string, detailedDiff?: object) =>
  JSON.stringify({
    resourcePreEvent: { metadata: { op, urn: urn(name), type: "hcloud:index/server:Server", detailedDiff } },
  });
const planned = { harmless: ["name", "labels", "rules[].description"], disruptive: ["serverType"] };
const judge = (...lines: readonly string[]) => plannedChanges(lines.join("\n"), new Set([urn("mine-cp-1")]), planned);
const update = (diff: object) => judge(step("mine-cp-1", "update", diff));

test("S7.2 a changed name and added labels have no effect on nodes", () => {
  const diff = { name: { diffKind: "update" }, "labels.cluster": { diffKind: "add" } };
  expect(update(diff)).toEqual({
    harmless: ["Server mine-cp-1: ~ name, + labels.cluster"],
    differences: [],
    faults: [],
  });
});

test("S7.2 neither has a changed description of a rule", () => {
  const { harmless, differences } = update({ "rules[1].description": { diffKind: "update" } });
  expect({ harmless, differences }).toEqual({
    harmless: ["Server mine-cp-1: ~ rules[1].description"],
    differences: [],
  });
});

test.each([
  [
    "a label that is taken away, by which something may select it",
    { "labels.type": { diffKind: "delete" } },
    "- labels.type",
  ],
  ["rules of a firewall", { "rules[0].sourceIps": { diffKind: "update" } }, "~ rules[0].sourceIps"],
])("S7.2 %s may have one, and needs consent", (_, diff, words) => {
  expect(update(diff)).toEqual({ harmless: [], differences: [`Server mine-cp-1: ${words}`], faults: [] });
});

test.each([
  [
    "turns a machine off",
    "update",
    { serverType: { diffKind: "update" } },
    /would change serverType, for which machines are turned off/,
  ],
  ["replaces it", "replace", { location: { diffKind: "update-replace" } }, /would replace it, because of location/],
  ["deletes it", "delete", undefined, /would replace it, because of its state/],
])("S7.2 what %s keeps a cluster from being adopted", (_, op, diff, seen) => {
  const { faults } = judge(step("mine-cp-1", op, diff));
  expect(faults).toMatchObject([{ where: "Server mine-cp-1", seen: expect.stringMatching(seen) }]);
});

test("S7.2 unchanged resources, and those that are not adopted, are no changes", () => {
  expect(judge(step("mine-cp-1", "same"), step("mine-w-9", "create"), JSON.stringify({ preludeEvent: {} }))).toEqual({
    harmless: [],
    differences: [],
    faults: [],
  });
});
