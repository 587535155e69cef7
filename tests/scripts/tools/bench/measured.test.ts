import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { root } from "../../../../scripts/base/paths.ts";
import type { Usage } from "../../../../scripts/tools/bench/figures.ts";

const measuring = join(root, "scripts", "tools", "bench", "measured.ts");

/** Starts a process that allocates and computes, and ends with this code. */
const busy = (code: number) =>
  `const { spawnSync } = require("node:child_process");
   const work = "const kept = Buffer.alloc(200 * 2 ** 20, 1); while (process.cpuUsage().user < 600_000); process.exit(kept.length % 2)";
   spawnSync(process.execPath, ["-e", work]);
   console.log("done");
   process.exit(${code});`;

describe("S10.3 what a command took", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (...command: readonly string[]) => {
    const report = join(folder, "usage.json");
    const ended = spawnSync(process.execPath, [measuring, report, ...command], { encoding: "utf8" });
    return { ...ended, usage: () => JSON.parse(readFileSync(report, "utf8")) as Usage };
  };

  test("includes what the processes took that it started", () => {
    const { status, stdout, usage } = run(process.execPath, "-e", busy(3));
    expect({ status, stdout }).toEqual({ status: 3, stdout: "done\n" });
    const { seconds, cpuSeconds, peakMegabytes } = usage();
    expect(seconds).toBeGreaterThan(0.6);
    expect(cpuSeconds).toBeGreaterThan(0.5);
    expect(cpuSeconds).toBeLessThan(4 * seconds);
    expect(peakMegabytes).toBeGreaterThan(200);
  });

  test("is an error for a program that does not exist", () => {
    const { status, stderr } = run(join(folder, "none"));
    expect({ status, stderr }).toEqual({ status: 127, stderr: expect.stringContaining("cannot start") });
  });
});
