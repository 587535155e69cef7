// `npm run bench`: measures Sluice against a plain Pulumi program of the same cluster, on the lab.
import { loadavg } from "node:os";
import { readOptions } from "../base/commandLine.ts";
import { main } from "../base/fail.ts";
import { benchVariable, parseBenchOptions } from "./bench/options.ts";
import { sum } from "./check/counts.ts";
import { parts } from "./check/parts.ts";
import { countsOf, stepsOf } from "./check/runParts.ts";

const usage = `npm run bench -- [--rounds <n> | --quick] [--nodes <n>+<n>] [--record <file>] [--chart <file>]

Measures Sluice against the plain Pulumi program in bench/baseline, with the same servers, configs and charts, each on a new lab: up from nothing, up with
nothing to do, preview, refresh, destroy. The programs take turns. It prints medians with their spread, the ratio, and whether that meets the goals of
the requirements (S10.1). A round takes about two minutes on two idle cores; with other work on the machine the figures mean little.

  --rounds <n>     how many rounds; 3 by default
  --quick          one round
  --nodes <n>+<n>  control planes and workers; 3+3 by default
  --record <file>  add what each command took to this file, a line of JSON each
  --chart <file>   write the chart, as SVG`;

/** Of two cores. With more work than this beforehand, figures are of that work too. */
const idleLoad = 1.5;

const string = { type: "string" } as const;

await main(async () => {
  const options = { rounds: string, quick: { type: "boolean" }, nodes: string, record: string, chart: string } as const;
  const call = readOptions(usage, options);
  if (call === undefined) return 0;
  process.env[benchVariable] = JSON.stringify(parseBenchOptions(call.values));
  const [load = 0] = loadavg();
  if (load > idleLoad) {
    console.error(`sluice: warning: this machine is busy (load ${load.toFixed(1)}): the figures will be too high`);
  }
  const bench = parts.filter(({ name }) => name === "bench");
  const { failed } = sum(await Promise.all(stepsOf(bench).map((step) => countsOf(step, []))));
  return failed === 0 ? 0 : 1;
});
