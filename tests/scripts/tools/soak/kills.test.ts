import { describe, expect, test } from "@jest/globals";
import { Chance } from "../../../../scripts/tools/soak/chance.ts";
import { chooseKill, describeKill, stepsIn } from "../../../../scripts/tools/soak/kills.ts";

const seeds = Array.from({ length: 500 }, (_, index) => index);

describe("the kills of a soak (S5.3)", () => {
  const kills = seeds.map((seed) => chooseKill(new Chance(seed), false));

  test("are the same for the same seed", () => {
    expect(seeds.map((seed) => chooseKill(new Chance(seed), false))).toEqual(kills);
  });

  test("meet engine, provider and plugins, when a step begins and later, before up and before destroy", () => {
    expect(new Set(kills.map(({ whom }) => whom))).toEqual(new Set(["engine", "provider", "plugin"]));
    expect(new Set(kills.map(({ next }) => next))).toEqual(new Set(["up", "destroy"]));
    expect(new Set(kills.map(({ afterMs }) => afterMs))).toEqual(new Set([0, 100, 400, 1_500]));
  });

  test("meet every kind of step, of which the API of a platform adds some", () => {
    const kinds = (hasApi: boolean) => new Set(seeds.map((seed) => chooseKill(new Chance(seed), hasApi).afterKinds));
    const upTo = (last: number) => new Set(Array.from({ length: last }, (_, index) => index + 1));
    expect(kinds(false)).toEqual(upTo(27));
    expect(kinds(true)).toEqual(upTo(40));
  });

  test("are described by whom, when and what follows", () => {
    const kill = { whom: "engine", which: 2, afterKinds: 17, afterMs: 400, next: "destroy" } as const;
    expect(describeKill(kill)).toBe("engine killed 0.4 s after step kind 17 began, then destroy");
    expect(describeKill({ ...kill, whom: "plugin", afterMs: 0, next: "up" })).toBe(
      "plugin 2 killed when step kind 17 began, then up",
    );
  });
});

describe("the steps of a run", () => {
  const output = [
    "Updating (dev):",
    " +  pulumi:pulumi:Stack sluice-dev creating (0s) ",
    " +  sluice:platform:Cilium dev-cilium creating (0s) ",
    "@ updating....",
    " +  hcloud:index:Network dev-network creating (0s) ",
    " +  hcloud:index:Network dev-network creating (1s) waits for the API",
    " +  hcloud:index:Network dev-network created (1.01s)",
    " +  hcloud:index:Server dev-cp-1 creating (0s) ",
    " +  hcloud:index:Server dev-w-1 creating (0s) ",
    " ~  pulumi-nodejs:dynamic/talos:Bootstrap dev updating (0s) [diff: ~rejoined]",
    " +  hcloud:index:Server dev-cp-1 created (2s) ",
    " +  kubernetes:helm.sh/v3:Release dev-csi-release creating (0s) ",
    " +  kubernetes:helm.sh/v3:Release dev-cilium-release creating (0s) ",
    " +  kubernetes:helm.sh/v3:Release dev-cilium-release creating (9s) error: it took too long",
    " +  kubernetes:helm.sh/v3:Release dev-cilium-release **creating failed** error: it took too long",
    "    pulumi:pulumi:Stack sluice-dev running (2s)",
  ].join("\n");

  test("are counted by kind: every release is one, the machines of all nodes are one, components and the stack are none", () => {
    expect(stepsIn(output).started).toBe(5);
    expect(stepsIn("").started).toBe(0);
  });

  test("are at work until they are done or have failed, each type once", () => {
    expect(stepsIn(output).atWork).toEqual([
      "hcloud:index:Server",
      "pulumi-nodejs:dynamic/talos:Bootstrap",
      "kubernetes:helm.sh/v3:Release",
    ]);
  });
});
