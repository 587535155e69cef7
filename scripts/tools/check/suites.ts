// Runs suites of Jest and counts their tests.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../base/paths.ts";
import { runAttached } from "../../base/run.ts";
import type { Counts } from "./counts.ts";

/** Jest workers for suites that mostly wait: more than there are cores, and their timeouts are generous. */
const waitingWorkers = 4;

/** What processes of labs and engines get: memory is there, and each collects garbage less often. */
const goSettings = { GOGC: "400" };

/** What Jest reports, as far as it is used here. */
export interface JestReport {
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly numRuntimeErrorTestSuites?: number;
}

/** A suite that does not load counts as a failed test, and so does a run without any test. */
export function countsIn(report: JestReport): Counts {
  const { numPassedTests: passed = 0, numFailedTests: failed = 0, numRuntimeErrorTestSuites: broken = 0 } = report;
  return { passed, failed: Math.max(failed + broken, passed === 0 ? 1 : 0) };
}

/** Runs these projects in one process of Jest, with further options of the user. */
export async function runSuites(
  projects: readonly string[],
  options: readonly string[],
  { mostlyWait = false }: { readonly mostlyWait?: boolean | undefined },
): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-check-"));
  const report = join(folder, "report.json");
  try {
    const workers = mostlyWait ? [`--maxWorkers=${waitingWorkers}`] : [];
    // Options come before --selectProjects, which would take paths as further projects.
    const args = [...workers, ...options, "--selectProjects", ...projects];
    await runAttached("jest", [...args, "--json", "--outputFile", report, "--silent=false"], {
      cwd: root,
      env: {
        ...(mostlyWait && goSettings),
        ...process.env,
        NODE_OPTIONS: "--experimental-vm-modules --disable-warning=ExperimentalWarning",
      },
    });
    // Jest writes no report if no file matches.
    return countsIn(JSON.parse(await readFile(report, "utf8").catch(() => "{}")));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
