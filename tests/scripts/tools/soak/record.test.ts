import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { root } from "../../../../scripts/base/paths.ts";
import { type RecordedRun, readRuns, recordRun } from "../../../../scripts/tools/soak/record.ts";
import { totals } from "../../../../scripts/tools/soak/totals.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-soak-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run: RecordedRun = {
  ...{ seed: 1, case: "hetzner 1+0, Talos 1.13.8", parts: ["cloud refuse 1x"], commit: "abc1234" },
  ...{ commands: 1, resumed: 0, seconds: 40, untrue: [], lost: [], isHung: false },
};
const killed = { victim: "pulumi", parts: ["pki a", "engine killed"], during: ["a:b:C", "a:b:D"], next: "up" } as const;

describe("S1.8 the results of soaks", () => {
  test("are added to a file, and read from several", async () => {
    const files = ["a", "b"].map((name) => join(folder, name));
    for (const [place, file] of files.entries()) {
      recordRun(file, { ...run, seed: place });
      recordRun(file, { ...run, seed: place + 10 });
    }
    const read = await readRuns(files);
    expect(read.map(({ seed }) => seed)).toEqual([0, 10, 1, 11]);
    expect(read[0]).toEqual({ ...run, seed: 0 });
  });

  test("are refused from a file with anything else, and from none", async () => {
    const file = join(folder, "text");
    writeFileSync(file, `${JSON.stringify(run)}\nup with one command\n`);
    await expect(readRuns([file])).rejects.toThrow(`line 2 of ${file} is no JSON`);
    await expect(readRuns([join(folder, "none")])).rejects.toThrow("cannot read");
  });

  test("are summed as a table, each run once, with what must never happen and what was killed", () => {
    const runs: RecordedRun[] = [
      run,
      { ...run, seed: 2, resumed: 2, seconds: 90 },
      { ...run, seed: 3, commands: 2, untrue: ["kubectl: every node is Ready"], commit: "def5678" },
      { ...run, seed: 5, ...killed, seconds: 100 },
      { ...run, seed: 7, ...killed, during: [], seconds: 100 },
      { ...run, seed: 6, ...killed, during: ["a:b:C"], next: "destroy", commands: 0, isHung: true, lost: ["server 1"] },
    ];
    expect(totals(runs).split("\n")).toEqual([
      "**6 runs** with 6 faults and 3 kills, seeds 1 to 3, 5 to 7, of commits abc1234, def5678.",
      "",
      "| | runs | with one command | of these resumed by itself | with another | never |",
      "| --- | --- | --- | --- | --- | --- |",
      "| without a kill: `up` | 3 | 2 | 1 | 1 | 0 |",
      "| killed, then `up` | 2 | 2 | 0 | 0 | 0 |",
      "| killed, then `destroy` | 1 | 0 | 0 | 0 | 1 |",
      "",
      "Reported as up and not: 1. Commands that did not end: 1. Lost: 1.",
      "Without a kill one `up` took 90 s (median), at most 90 s.",
      "With a kill all commands took 100 s (median), at most 100 s.",
      "",
      "Processes were killed during: `a:b:C` 2 times, `a:b:D`, no step.",
    ]);
  });

  test("say how many failures they cannot exclude, if there was none", () => {
    const hundred = Array.from({ length: 100 }, (_, seed) => ({ ...run, seed }));
    expect(totals(hundred)).toContain("Of 100 runs without a failure, the true share of failures may be up to 3.0 %");
    expect(totals([...hundred, { ...run, commands: 2 }])).not.toContain("true share");
  });

  test("are in docs/reliability.md as `npm run soak -- --totals docs/soak.jsonl` prints them", async () => {
    const page = readFileSync(join(root, "docs", "reliability.md"), "utf8");
    expect(page).toContain(
      `<!-- soak -->\n${totals(await readRuns([join(root, "docs", "soak.jsonl")]))}\n<!-- /soak -->\n`,
    );
  });
});
