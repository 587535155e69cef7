// The parts of the check, in the order in which they run: quick ones and those that fail often come first.
import { join } from "node:path";
import { root } from "../../base/paths.ts";
import { run, runAttached } from "../../base/run.ts";
import { ensureTools } from "../../toolchain/ensure.ts";
import { programPath } from "../../toolchain/entry.ts";
import { charts } from "../../toolchain/labTools.ts";
import { pluginTools, prepareToolchain } from "../../toolchain/toolchain.ts";
import { configChecks, labPrograms, toolNamed } from "../../toolchain/tools.ts";
import { type Counts, counted } from "./counts.ts";
import { goFiles } from "./goFiles.ts";
import { labCode } from "./labCode.ts";

/** Suites of Jest: those of the project with the part's name. */
interface Suites {
  /** Builds what the suites need: here a build shows its progress and has no timeout. */
  prepare(): Promise<void>;
  /** Options of Jest for these suites alone. */
  readonly options?: readonly string[];
  /** They mostly wait, each on a lab of its own: parts like this share one run of Jest, in which no core is idle while the last suite of a part ends. */
  readonly mostlyWait?: true;
}

export interface Part {
  readonly name: string;
  readonly what: string;
  /** What it is made of; the parts of Jest pass options on to it, and so does `go test`. */
  readonly runs: Suites | GoTest | (() => Promise<Counts>);
  /** Runs only when it is named: it would make the whole check too slow to run before each pull request. */
  readonly isOnRequest?: true;
}

interface GoTest {
  readonly goTest: (options: readonly string[]) => Promise<Counts>;
}

export const parts: readonly Part[] = [
  { name: "types", what: "the TypeScript compiler", runs: () => program("tsc", ["-p", "."]) },
  { name: "lint", what: "lint, format and imports of TypeScript", runs: () => program("biome", ["ci", "."]) },
  { name: "gofmt", what: "format of Go", runs: formatOfGo },
  { name: "workflows", what: "the GitHub workflows", runs: workflows },
  { name: "unit", what: "unit and property tests", runs: { prepare: async () => undefined } },
  { name: "go", what: "the lab's Go: vet, staticcheck, tests", runs: { goTest: labCode } },
  { name: "sdk", what: "sdks/talos is what the plugin's schema gives", runs: () => command("sdk", "--check") },
  {
    name: "plugins",
    what: "plugins against SDKs, rendered machine configs",
    runs: { prepare: () => ensureTools([...pluginTools(), ...configChecks]) },
  },
  { name: "engine", what: "the program on the real engine", runs: { prepare: prepareEngine, mostlyWait: true } },
  { name: "lab", what: "the lab against tools that others wrote", runs: { prepare: prepareLab, mostlyWait: true } },
  {
    name: "chain",
    what: "from nothing to GitOps on the lab, and what can fail",
    runs: { prepare: prepareLab, mostlyWait: true },
  },
  {
    name: "soak",
    what: "a sample of npm run soak: faults and kills by a seed",
    runs: { prepare: prepareLab, options: ["--maxConcurrency=2"], mostlyWait: true },
  },
  {
    name: "bench",
    what: "Sluice against a plain Pulumi program; only if named, on an idle machine: npm run bench",
    runs: { prepare: prepareLab },
    isOnRequest: true,
  },
  {
    name: "variants",
    what: "the chain on further platforms and settings; only if named, and each night in CI",
    runs: { prepare: prepareLab, mostlyWait: true },
    isOnRequest: true,
  },
];

/** What a plain `npm test` runs. */
export const wholeCheck = parts.filter(({ isOnRequest }) => !isOnRequest);

async function program(name: string, args: readonly string[]): Promise<Counts> {
  return counted((await runAttached(name, args, { cwd: root })) === 0);
}

function command(name: string, ...args: string[]): Promise<Counts> {
  return program(process.execPath, [join(root, "scripts", "tools", `${name}.ts`), ...args]);
}

async function formatOfGo(): Promise<Counts> {
  const formatted = await run("gofmt", ["-l", ...(await goFiles())], { cwd: root });
  if (formatted.stdout !== "") console.log(`not formatted with gofmt:\n${formatted.stdout}`);
  return counted(formatted.code === 0 && formatted.stdout === "");
}

async function workflows(): Promise<Counts> {
  const tool = toolNamed("actionlint");
  await ensureTools([tool]);
  // Without shellcheck and pyflakes, which not every machine has: the same result everywhere.
  return program(programPath(tool), ["-shellcheck=", "-pyflakes="]);
}

async function prepareEngine(): Promise<void> {
  await prepareToolchain();
  // The tests run without a network, and a preview of an environment on a lab reads the charts.
  await ensureTools([charts, ...configChecks]);
}

async function prepareLab(): Promise<void> {
  await prepareToolchain();
  await ensureTools([...labPrograms, ...configChecks, charts]);
}
