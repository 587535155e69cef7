import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startOf } from "../../../scripts/base/processIdentity.ts";

const work = mkdtempSync(join(tmpdir(), "sluice-deployed-"));
let life: typeof import("../../../scripts/lab/labProcess.ts");
let deployed: typeof import("../../../scripts/lab/goneLab.ts");
let record: typeof import("../../../scripts/lab/deploymentRecord.ts");
beforeAll(async () => {
  process.env.SLUICE_WORK = work;
  life = await import("../../../scripts/lab/labProcess.ts");
  deployed = await import("../../../scripts/lab/goneLab.ts");
  record = await import("../../../scripts/lab/deploymentRecord.ts");
});
afterEach(() => rmSync(join(work, "lab"), { recursive: true, force: true }));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** This process, in place of a lab's first process. */
function ownLife() {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return { pid: process.pid, start: startOf(process.pid) ?? 0, boot };
}

function writeLab(name: string, process: object, more: object = {}): void {
  mkdirSync(join(work, "lab", name), { recursive: true });
  const info = { process, ready: true, kubernetes: "127.0.0.1:1", config: {}, ...more };
  writeFileSync(join(work, "lab", name, "lab.json"), JSON.stringify(info));
}

describe("a lab that scripts ask for", () => {
  test("runs when its first process does", async () => {
    writeLab("a", ownLife(), { config: { moreSnapshots: [{ talos: "1.13.8" }] } });
    expect(await life.runningLab("a")).toEqual({
      life: ownLife(),
      kubernetes: "127.0.0.1:1",
      platform: { snapshots: [{ talos: "1.13.8" }] },
    });
  });

  test.each([
    ["another process that has its number", { start: 1 }],
    ["a process before the machine was started again", { boot: "other" }],
    ["a process that has ended", { pid: 4_194_305 }],
  ])("does not run when it was %s", async (_, change) => {
    writeLab("a", { ...ownLife(), ...change });
    expect(await life.runningLab("a")).toBeUndefined();
  });

  test("does not run before it is ready, or when there is none", async () => {
    writeLab("a", ownLife(), { ready: false });
    expect(await life.runningLab("a")).toBeUndefined();
    expect(await life.runningLab("b")).toBeUndefined();
  });

  test("is refused if something is missing that an environment needs from the start", () => {
    const snapshot = {
      talos: "1.13.8",
      schematic: "a",
      customization: "",
      arch: "amd64",
      labels: {},
      description: "Talos 1.13.8",
    };
    const running = { life: ownLife(), kubernetes: "", platform: {} };
    expect(() => life.needPlatform("a", running, { snapshots: [snapshot] })).toThrow(
      "the running lab 'a' has no snapshot 'Talos 1.13.8', which this environment needs: end it with 'npm run lab -- --name a down'",
    );
    const platform = { snapshots: [snapshot] };
    expect(() => life.needPlatform("a", { ...running, platform }, platform)).not.toThrow();
  });
});

describe("an environment that was deployed in a lab", () => {
  const here = (name = "a") => ({ lab: name, life: ownLife() });

  test("exists while that lab runs, and if no deployment is recorded", async () => {
    expect(await deployed.isFromGoneLab("dev", here())).toBe(false);
    await record.recordDeployed("dev", here());
    expect(await deployed.isFromGoneLab("dev", here())).toBe(false);
  });

  test("U3 is gone once that lab was started again", async () => {
    await record.recordDeployed("dev", { lab: "a", life: { ...ownLife(), start: 1 } });
    expect(await deployed.isFromGoneLab("dev", here())).toBe(true);
    await record.forgetDeployed("dev");
    expect(await deployed.isFromGoneLab("dev", here())).toBe(false);
  });

  test("U3 is refused on another lab while that lab runs", async () => {
    writeLab("b", ownLife());
    await record.recordDeployed("dev", here("b"));
    await expect(deployed.isFromGoneLab("dev", here())).rejects.toThrow(
      "dev is to run on the lab 'a', but is deployed on 'b', which is running. End that lab ('npm run lab -- --name b down')",
    );
    rmSync(join(work, "lab", "b"), { recursive: true });
    expect(await deployed.isFromGoneLab("dev", here())).toBe(true);
  });
});
