// `npm run soak`: brings up clusters with injected faults and kills, destroys them, and reports how many came up, were what was reported, and were gone.
import { readOptions } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { sum } from "./check/counts.ts";
import { parts } from "./check/parts.ts";
import { countsOf, stepsOf } from "./check/runParts.ts";
import { parseSoakOptions, soakVariable } from "./soak/options.ts";
import { readRuns } from "./soak/record.ts";
import { totals } from "./soak/totals.ts";

const usage = `npm run soak -- [--runs <n>] [--seed <n>] [--record <file>] [--faults <list>]
npm run soak -- --totals <file>...

Brings up clusters on the lab, two at once, while transient faults happen: calls that fail, are slow, get no answer or are cut, outages, power losses,
slow boots, wrong clocks, images that cannot be pulled, health checks, services, pods and git that fail at first. In one of three the engine, the process of
the dynamic resources or a plugin is killed, at any kind of step, and then up or destroy is typed. A seed decides platform, size, Talos version, faults and
kill. Then talosctl, kubectl and flux verify the cluster and the commit that Flux applied, the cloud is compared with the state, and destroy must leave
nothing. A failure is reduced to what it needs, and the command that reproduces it is printed. It exits with 1 if a cluster never came up, was not what was
reported, lost something, or a command did not end.

  --runs <n>       how many clusters; 20 by default, about a minute each
  --seed <n>       of the first; 1 by default. Each cluster has the next one
  --record <file>  add each result to this file, a line of JSON each: several runs of this command can use the same
  --faults <list>  keep only these parts of each case: faults by number, and the kill: 0,2,kill; or none
  --totals         run nothing: print the figures of all results in these files, as Markdown`;

const string = { type: "string" } as const;

await main(async () => {
  const options = { runs: string, seed: string, faults: string, record: string, totals: { type: "boolean" } } as const;
  const call = readOptions(usage, options, { allowPositionals: true });
  if (call === undefined) return 0;
  const { values, positionals: files } = call;
  const { totals: isTotals = false, ...given } = values;
  if (isTotals !== files.length > 0) throw new Failure(usage);
  if (isTotals) {
    console.log(totals(await readRuns(files)));
    return 0;
  }
  process.env[soakVariable] = JSON.stringify(parseSoakOptions(given));
  const soak = parts.filter(({ name }) => name === "soak");
  const { failed } = sum(await Promise.all(stepsOf(soak).map((step) => countsOf(step, []))));
  return failed === 0 ? 0 : 1;
});
