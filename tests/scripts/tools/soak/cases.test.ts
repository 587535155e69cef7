import { describe, expect, test } from "@jest/globals";
import {
  describeCase,
  describeParts,
  nodesOf,
  partsOf,
  reproduction,
  soakCase,
} from "../../../../scripts/tools/soak/cases.ts";

const seeds = Array.from({ length: 300 }, (_, index) => index + 1);

describe("the cases of a soak", () => {
  test("are the same for the same seed, so that a failure can be reproduced (S5.2)", () => {
    for (const seed of seeds) expect(soakCase(seed)).toEqual(soakCase(seed));
  });

  test("have every platform, size and Talos version, and one to four faults (S5.2)", () => {
    const cases = seeds.map((seed) => soakCase(seed));
    expect(new Set(cases.map(({ platform }) => platform))).toEqual(new Set(["hetzner", "proxmox", "existing"]));
    expect(new Set(cases.map(({ controlPlanes, workers }) => `${controlPlanes}+${workers}`)).size).toBe(6);
    expect(new Set(cases.map(({ talos }) => talos))).toEqual(new Set(["1.12.6", "1.13.8"]));
    expect(new Set(cases.map(({ faults }) => faults.length))).toEqual(new Set([1, 2, 3, 4]));
  });

  test("kill a process in one case of three, and fail the cloud, nodes, clocks, health checks, etcd, Kubernetes, pods, registries and git (S5.2, S5.3)", () => {
    const cases = seeds.map((seed) => soakCase(seed));
    const killed = cases.filter(({ kill }) => kill !== undefined).length;
    expect(killed).toBeGreaterThan(80);
    expect(killed).toBeLessThan(120);
    const faults = cases.flatMap((one) => one.faults);
    const machines = ["machine", "stage", "service", "health", "clock", "image"];
    const places = ["cloud", "talos", ...machines, "member", "node", "kube", "pod"];
    expect(new Set(faults.map(({ on }) => on))).toEqual(new Set(places));
    const actions = ["fail", "refuse", "lose", "drop", "mute", "delay", "cut", "crash", "skew"];
    expect(new Set(faults.map((fault) => fault.do))).toEqual(new Set(actions));
    expect(faults.some(({ subject }) => subject === "git")).toBe(true);
    expect(faults.some(({ name }) => name?.startsWith("flux-system/"))).toBe(true);
  });

  test("inject faults of a cloud only where there is one", () => {
    const without = seeds.map((seed) => soakCase(seed)).filter(({ platform }) => platform === "existing");
    expect(
      without.flatMap(({ faults }) => faults.filter(({ on, subject }) => on === "cloud" && subject !== "git")),
    ).toEqual([]);
  });

  test("fail the health checks of a load balancer only where there is one", () => {
    const checked = (platform: string) =>
      seeds
        .map((seed) => soakCase(seed))
        .filter((one) => one.platform === platform)
        .flatMap(({ faults }) => faults.filter(({ on, name }) => on === "health" && name?.includes(":")));
    expect(checked("hetzner")).not.toEqual([]);
    expect([...checked("proxmox"), ...checked("existing")]).toEqual([]);
  });

  test("lose faults by their number, and the kill, and nothing else changes", () => {
    const seed = seeds.find((one) => soakCase(one).faults.length === 4 && soakCase(one).kill !== undefined) ?? 0;
    const { kill, ...rest } = soakCase(seed);
    expect(partsOf({ ...rest, ...(kill && { kill }) })).toEqual([0, 1, 2, 3, "kill"]);
    expect(soakCase(seed, [1, 3])).toEqual({ ...rest, faults: [rest.faults[1], rest.faults[3]] });
    expect(soakCase(seed, ["kill"])).toEqual({ ...rest, kill, faults: [] });
    expect(soakCase(seed, [])).toEqual({ ...rest, faults: [] });
  });

  test("describe each part", () => {
    const kill = { whom: "engine", which: 0, afterKinds: 3, afterMs: 0, next: "up" } as const;
    const faults = [
      { on: "cloud", do: "fail", code: "503", after: "3s", for: "9s" },
      { on: "machine", subject: "a", do: "crash", times: 1, when: { what: "stage", value: "running" } },
      { on: "clock", name: "boot", subject: "a", do: "skew", by: "-1h" },
    ];
    expect(describeParts({ ...soakCase(1), faults, kill })).toEqual([
      "cloud fail 503 after 3s for 9s",
      "machine a crash 1x when running",
      "clock boot a skew -1h",
      "engine killed when step kind 3 began, then up",
    ]);
  });

  test("are described by platform, size and version, and by the command that repeats them", () => {
    expect(
      describeCase({
        ...soakCase(1),
        platform: "proxmox",
        controlPlanes: 3,
        workers: 1,
        talos: "1.12.6",
      }),
    ).toBe("proxmox 3+1, Talos 1.12.6");
    expect(reproduction(7, [0, 2])).toBe("npm run soak -- --runs 1 --seed 7 --faults 0,2");
    expect(reproduction(7, [1, "kill"])).toBe("npm run soak -- --runs 1 --seed 7 --faults 1,kill");
    expect(reproduction(7, [])).toBe("npm run soak -- --runs 1 --seed 7 --faults none");
    expect(nodesOf(3, 1)).toEqual(["cp-1", "cp-2", "cp-3", "w-1"]);
  });
});
