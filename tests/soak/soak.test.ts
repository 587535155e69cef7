// How often a cluster comes up despite injected faults and kills, and whether it is ever reported as up when it is not (S1.8, S5.2, S5.3). Run by `npm run soak`;
// the whole check has a short sample.
import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { root } from "../../scripts/base/paths.ts";
import {
  type CasePart,
  describeCase,
  describeParts,
  partsOf,
  reproduction,
  soakCase,
} from "../../scripts/tools/soak/cases.ts";
import { readSoakOptions } from "../../scripts/tools/soak/options.ts";
import { recordRun } from "../../scripts/tools/soak/record.ts";
import { shrink } from "../../scripts/tools/soak/shrink.ts";
import { isFailure, type SoakResult, soakTable } from "../../scripts/tools/soak/table.ts";
import { bringUp } from "./bringUp.ts";

jest.setTimeout(3_600_000);

const { seeds, only, record } = readSoakOptions(process.env);
const results: SoakResult[] = [];

describe(`${seeds.length} clusters with injected faults and kills, from seed ${seeds[0]}`, () => {
  test.concurrent.each(seeds)(
    "S1.8 S5.2 S5.3 seed %i comes up, is what it is reported to be, and is destroyed",
    async (seed) => {
      const soak = soakCase(seed, only);
      const { output, ...result } = await bringUp(soak);
      results.push({ seed, ...result });
      const { errors, ...kept } = result;
      const run = { seed, case: describeCase(soak), parts: describeParts(soak), ...kept };
      process.stdout.write(`${JSON.stringify({ ...run, errors })}\n`);
      if (record !== undefined) recordRun(record, { commit: commit(), ...run });
      if (isFailure(result)) throw new Error(`${JSON.stringify(result)}\n${output}\n${await smallest(seed)}`);
      expect(result.commands).toBeGreaterThan(0);
    },
  );

  afterAll(() => void process.stdout.write(soakTable(seeds, results)));
});

/** What is checked out, with "+" if files were changed. */
function commit(): string {
  const described = spawnSync("git", ["describe", "--always", "--dirty=+"], { cwd: root, encoding: "utf8" });
  return described.stdout.trim();
}

/** The fewest faults that repeat the failure, and the command that does. */
async function smallest(seed: number): Promise<string> {
  const fails = async (parts: readonly CasePart[]) => isFailure(await bringUp(soakCase(seed, parts)));
  const needed = await shrink(partsOf(soakCase(seed, only)), fails);
  const parts = describeParts(soakCase(seed, needed));
  return `what it needs: ${parts.join("; ") || "nothing"}\nreproduce it: ${reproduction(seed, needed)}`;
}
