import { describe, expect, test } from "@jest/globals";
import { added, behind, fluxRows, orphans, secondBootstraps } from "../../../../scripts/tools/soak/claims.ts";

const wanted = "main@sha1:2";
const ready = (status: string) => [{ type: "Ready", status, message: `it is ${status}` }];
const source = {
  kind: "GitRepository",
  metadata: { name: "a", generation: 2 },
  status: { observedGeneration: 2, conditions: ready("True"), artifact: { revision: wanted } },
};
const applied = {
  kind: "Kustomization",
  metadata: { name: "b", generation: 1 },
  status: { observedGeneration: 1, conditions: ready("True"), lastAppliedRevision: wanted },
};

describe("Flux in a soak", () => {
  test("is reconciled where every object is ready at the newest commit, and seen in its newest form (S5.2)", () => {
    expect(behind([source, applied], wanted)).toEqual([]);
  });

  test.each([
    ["is at another commit", { ...applied.status, lastAppliedRevision: "main@sha1:1" }],
    ["is not ready", { ...applied.status, conditions: ready("False") }],
    ["was changed since", { ...applied.status, observedGeneration: 0 }],
    ["has no condition", { lastAppliedRevision: wanted, observedGeneration: 1 }],
    ["has no status", undefined],
  ])("is not where one %s", (_, status) => {
    const { status: __, ...bare } = applied;
    const found = behind([source, { ...bare, ...(status !== undefined && { status }) }], wanted);
    expect(found).toEqual([expect.stringMatching(/^Kustomization b is at /)]);
  });

  test("is not where nothing is applied", () => {
    expect(behind([source], wanted)).toHaveLength(1);
  });
});

test("a row of `flux get` is ready and not suspended only where it says both (S5.2)", () => {
  const row = (suspended: string, ready: string) =>
    `flux-system\tkustomization/apps\tmain@sha1:9b0b4cb8\t${suspended}    \t${ready} \tApplied revision`;
  const rows = fluxRows([row("False", "True"), "", row("True", "True"), row("False", "Unknown"), "broken"].join("\n"));
  expect(rows.map(({ isReady, isSuspended }) => [isReady, isSuspended])).toEqual([
    [true, false],
    [true, true],
    [false, false],
    [false, true],
  ]);
  expect(rows[0]?.row).toBe("flux-system kustomization/apps main@sha1:9b0b4cb8 False True Applied revision");
});

describe("the bootstraps of a soak", () => {
  const fact = (subject: string, what: string, value: string, detail?: Record<string, string>) => ({
    ...{ subject, what, value },
    ...(detail !== undefined && { detail }),
  });
  const starting = (subject: string, bootstrap: boolean) =>
    fact(subject, "etcd", "starting", { bootstrap: `${bootstrap}` });
  const member = (subject: string) => fact(subject, "etcd", "member");

  test("are one where a cluster began once, also after a call that was cancelled, and others joined it (S5.1)", () => {
    const cancelled = [fact("cp-1", "bootstrap", "asked"), starting("cp-1", true)];
    const facts = [...cancelled, fact("cp-1", "bootstrap", "asked"), starting("cp-1", true), member("cp-1")];
    expect(secondBootstraps([...facts, starting("cp-2", false), member("cp-2")])).toEqual([]);
    // After a reboot.
    expect(secondBootstraps([...facts, starting("cp-1", false), member("cp-1")])).toEqual([]);
  });

  test("are two where a second cluster began, or a call stopped the etcd of another (S5.1)", () => {
    const twice = [starting("cp-1", true), member("cp-1"), starting("cp-2", true), member("cp-2")];
    expect(secondBootstraps(twice)).toEqual(["2 clusters began, on cp-1, cp-2"]);
    expect(secondBootstraps([fact("cp-1", "bootstrap", "interrupted")])).toHaveLength(1);
  });
});

describe("what a platform has in a soak", () => {
  const before = [{ kind: "network", id: "1", isManaged: true }];
  const server = { kind: "server", id: "2", isManaged: true };
  const address = { kind: "address", id: "3", isManaged: false };

  test("is left after destroy where it was not there before (S5.3)", () => {
    expect(added(before, before)).toEqual([]);
    expect(added(before, [...before, server, address])).toEqual(["server 2", "address 3"]);
  });

  test("is an orphan where the engine manages it and the state does not have it (S5.3)", () => {
    expect(orphans(before, [...before, server, address], new Set(["2"]))).toEqual([]);
    expect(orphans(before, [...before, server, address], new Set(["1"]))).toEqual(["server 2"]);
  });
});
