// The parts of the whole check, in the order they run: what is quick and fails often comes first.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { labPrograms } from "../lab/programs.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { programPath } from "../toolchain/entry.ts";
import { charts } from "../toolchain/labTools.ts";
import { pluginTools, prepareToolchain } from "../toolchain/toolchain.ts";
import { toolNamed, tools } from "../toolchain/tools.ts";
import { root } from "../workspace/paths.ts";
import { run, runAttached } from "../workspace/run.ts";
import { type Counts, counted } from "./counts.ts";
import { goFiles } from "./goFiles.ts";
import { labCode } from "./labCode.ts";

export interface Part {
  readonly name: string;
  readonly what: string;
  /** Whether it is run only where it is named. */
  readonly isMeasurement?: true;
  run(): Promise<Counts>;
}

export const parts: readonly Part[] = [
  { name: "types", what: "the TypeScript compiler", run: () => program("tsc", ["-p", "."]) },
  { name: "lint", what: "lint, format and imports of TypeScript", run: () => program("biome", ["ci", "."]) },
  { name: "gofmt", what: "format of Go", run: formatOfGo },
  { name: "workflows", what: "the GitHub workflows", run: workflows },
  { name: "unit", what: "unit and property tests", run: () => tests("unit") },
  { name: "go", what: "the lab's Go: vet, staticcheck, tests", run: labCode },
  { name: "sdk", what: "sdks/talos is what the plugin's schema gives", run: () => command("sdk", "--check") },
  { name: "plugins", what: "plugins against SDKs, rendered machine configs", run: plugins },
  { name: "engine", what: "the program on the real engine", run: engine },
  { name: "lab", what: "the lab against tools that others wrote", run: lab },
  { name: "chain", what: "from nothing to GitOps on the lab, and what can go wrong", run: chain },
  {
    name: "reliability",
    what: "a hundred bring-ups with mishaps: an hour, only by name",
    isMeasurement: true,
    run: reliability,
  },
];

async function program(name: string, args: readonly string[]): Promise<Counts> {
  return counted((await runAttached(name, args, { cwd: root })) === 0);
}

function command(name: string, ...args: string[]): Promise<Counts> {
  return program(process.execPath, [join(root, "scripts", `${name}.ts`), ...args]);
}

async function formatOfGo(): Promise<Counts> {
  const formatted = await run("gofmt", ["-l", ...(await goFiles())], { cwd: root });
  if (formatted.stdout !== "") console.log(`not formatted with gofmt:\n${formatted.stdout}`);
  return counted(formatted.code === 0 && formatted.stdout === "");
}

async function workflows(): Promise<Counts> {
  const tool = toolNamed("actionlint");
  await ensureTools([tool]);
  // Without shellcheck and pyflakes, which a machine may or may not have: the same verdict everywhere.
  return program(programPath(tool), ["-shellcheck=", "-pyflakes="]);
}

async function plugins(): Promise<Counts> {
  // Here, where a build shows its progress and has all the time it takes.
  await ensureTools([...pluginTools(), ...tools.filter(({ module }) => module === "configcheck")]);
  return tests("plugins");
}

async function engine(): Promise<Counts> {
  await prepareToolchain();
  // Without a network there is no way to get them, and a preview of what runs on a lab looks at them.
  await ensureTools([charts]);
  return tests("engine");
}

async function lab(): Promise<Counts> {
  await prepareLab();
  // More than there are cores: most of the time they wait, and the limits of a lab's times are far from what it takes.
  return tests("lab", "--maxWorkers=3");
}

async function chain(): Promise<Counts> {
  await prepareLab();
  // More than there are cores: most of the time they wait, and a lab is a world of its own.
  return tests("chain", "--maxWorkers=4");
}

async function reliability(): Promise<Counts> {
  await prepareLab();
  return tests("reliability", "--maxConcurrency=2");
}

async function prepareLab(): Promise<void> {
  await prepareToolchain();
  await ensureTools([...labPrograms, charts]);
}

/** Runs a Jest project and counts its tests; a suite that does not load counts as one that failed. */
async function tests(project: string, ...options: readonly string[]): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-check-"));
  const report = join(folder, "report.json");
  try {
    const args = ["--selectProjects", project, "--json", "--outputFile", report, "--silent=false", ...options];
    await runAttached("jest", args, {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: "--experimental-vm-modules --disable-warning=ExperimentalWarning" },
    });
    const result = JSON.parse(await readFile(report, "utf8"));
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites + (result.numTotalTests === 0 ? 1 : 0),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
