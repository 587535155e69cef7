// Sluice against a plain Pulumi program of the same cluster, in turns, each on a new lab (S10.3). Run by `npm run bench`, never by the check.
import { appendFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { type BenchRun, type BenchStep, programs, steps } from "../../scripts/tools/bench/figures.ts";
import { readBenchOptions } from "../../scripts/tools/bench/options.ts";
import { benchChart, benchTable } from "../../scripts/tools/bench/report.ts";
import type { EngineCommand } from "../lab/support/engine.ts";
import { type Benched, benchedPrograms } from "./programs.ts";

jest.setTimeout(3_600_000);

const { rounds, record, chart, ...size } = readBenchOptions(process.env);
const [load = 0] = loadavg();
const facts = {
  cluster: `${size.controlPlanes} control planes and ${size.workers} workers`,
  rounds,
  load,
};
const runs: BenchRun[] = [];

const commandOf: Readonly<Record<BenchStep, EngineCommand>> = {
  up: "up",
  noop: "up",
  preview: "preview",
  refresh: "refresh",
  destroy: "destroy",
};

describe(`${facts.cluster}, by Sluice and by a plain program`, () => {
  // One and then the other, so that a change of the machine's speed affects both.
  const turns = Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    programs.map((program) => [round, program] as const),
  );

  test.each(turns)(
    "S10.3 in round %i, %s brings its cluster up, changes nothing, and destroys it",
    async (_, program) => {
      const benched = await benchedPrograms[program](size);
      try {
        for (const step of steps) {
          const run = await measure(benched, step);
          runs.push({ program, step, ...run });
          const line = JSON.stringify({ program, step, ...size, ...run });
          process.stdout.write(`${line}\n`);
          if (record !== undefined) appendFileSync(record, `${line}\n`);
        }
      } finally {
        await benched.down();
      }
      expect(runs.filter((run) => run.program === program).length % steps.length).toBe(0);
    },
  );

  afterAll(() => {
    process.stdout.write(`\n${benchTable(runs, facts)}\n`);
    if (chart !== undefined) writeFileSync(chart, benchChart(runs, facts));
  });
});

async function measure(benched: Benched, step: BenchStep): Promise<Omit<BenchRun, "program" | "step">> {
  const usage = await benched.engine.measure(commandOf[step], ...(step === "noop" ? ["--expect-no-changes"] : []));
  if (step !== "up") return { usage };
  const untilReconciledSeconds = await benched.untilReconciled();
  const stateBytes = JSON.stringify(await benched.engine.exported()).length;
  return { usage, untilReconciledSeconds, stateBytes };
}
