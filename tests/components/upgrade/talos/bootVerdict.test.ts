import { describe, expect, test } from "@jest/globals";
import { judgeBoot } from "../../../../components/upgrade/talos/bootVerdict.ts";
import type { SystemLook } from "../../../../components/upgrade/talos/systemLook.ts";

const [old, next] = ["a".repeat(64), "b".repeat(64)];
const before: SystemLook = {
  bootId: "1",
  version: "1.12.6",
  schematic: old,
  stage: "running",
  isReady: true,
  unmet: [],
  isOnTrial: false,
};
const wanted = { installer: "installer", version: "1.13.8", schematic: next };
const judge = (now: Partial<SystemLook>, of: Partial<SystemLook> = {}, to = wanted) =>
  judgeBoot({ ...before, bootId: "2", ...now }, { before: { ...before, ...of }, wanted: to });

describe("S8.3 a node that was to boot another Talos", () => {
  const arrived = { version: "1.13.8", schematic: next };

  test.each<[string, ReturnType<typeof judge>, object]>([
    [
      "is waited for while it is in the same boot",
      judge({ bootId: "1" }),
      { kind: "waiting", why: "has not rebooted yet, stage running" },
    ],
    ["is up when it runs that Talos, is ready and has confirmed it", judge(arrived), { kind: "up" }],
    [
      "is waited for while it boots it",
      judge({ ...arrived, stage: "booting", isReady: false }),
      { kind: "waiting", why: `runs Talos 1.13.8 with schematic bbbbbbbb, stage booting` },
    ],
    [
      "is waited for until it is ready, with what is unmet",
      judge({ ...arrived, isReady: false, unmet: ["services: etcd not healthy"] }),
      { kind: "waiting", why: "runs Talos 1.13.8 with schematic bbbbbbbb, not ready (services: etcd not healthy)" },
    ],
    [
      "is waited for until a failure no longer returns it to its previous system",
      judge({ ...arrived, isOnTrial: true }),
      { kind: "waiting", why: "has not confirmed its new system yet" },
    ],
    [
      "need not become ready if it was not ready before",
      judge({ ...arrived, isReady: false, isOnTrial: true }, { isReady: false }),
      { kind: "up" },
    ],
    [
      "need not reach another stage than the one it was in: a control plane without etcd keeps booting",
      judge({ ...arrived, stage: "booting", isReady: false }, { stage: "booting", isReady: false }),
      { kind: "up" },
    ],
    [
      "has returned when it runs its previous version in another boot",
      judge({ stage: "booting", isReady: false }),
      { kind: "returned" },
    ],
    [
      "runs something else when it is neither",
      judge({ version: "1.13.7", schematic: next }),
      { kind: "other", runs: "Talos 1.13.7 with schematic bbbbbbbb" },
    ],
  ])("%s", (_, verdict, expected) => {
    expect(verdict).toEqual(expected);
  });

  describe("with the same version and another schematic", () => {
    const other = { ...wanted, version: "1.12.6" };

    test("is judged by the schematic once it reports one", () => {
      expect(judge({ schematic: "", stage: "booting" }, {}, other)).toMatchObject({ kind: "waiting" });
      expect(judge({ schematic: next }, {}, other)).toEqual({ kind: "up" });
    });

    test("has returned when it runs its previous schematic", () => {
      expect(judge({ stage: "booting" }, {}, other)).toMatchObject({ kind: "waiting" });
      expect(judge({}, {}, other)).toEqual({ kind: "returned" });
    });
  });
});
