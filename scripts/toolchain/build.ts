// Builds one tool into the cache, in two steps: its sources and modules are fetched while other tools compile.
import { createWriteStream, type WriteStream } from "node:fs";
import { chmod, copyFile, cp, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { finished } from "node:stream/promises";
import { Failure } from "../base/fail.ts";
import { cacheFolder } from "../base/paths.ts";
import type { Ended } from "../base/run.ts";
import { entryFolder, publish, recordFiles, writeEntry } from "./entry.ts";
import { buildFolder, type FetchListener, type GoCall, go, goFetching, goVersion, shellLine } from "./go.ts";
import { toolKey, toolVersion } from "./goModule.ts";
import { compilerMemory } from "./memory.ts";
import type { StepProgress } from "./progress.ts";
import { noteCompiled } from "./space.ts";
import { copyFiles, moduleSource, stageModule } from "./stage.ts";
import { type FileSet, isProgram, type Program, type Tool } from "./tool.ts";

const tailLines = 30;

/** What go prints about a package that it compiles; errors contain spaces. */
const packageLine = /^[^\s#]+$/;

/** Number of parallel downloads: they mostly wait for the network. By default Go uses as many as there are cores. */
const downloads = 16;

/** On the disk whose space is checked, and removed before the next build: on many machines /tmp is in memory. */
const temporary = join(buildFolder, "tmp");

/** A tool whose sources and modules are present. */
export interface Staged<T extends Tool = Tool> {
  readonly tool: T;
  readonly key: string;
  readonly entry: string;
  /** Where its module is copied to, and where its output goes. */
  readonly stage: string;
  readonly output: string;
  readonly listener: FetchListener;
  readonly log: WriteStream;
  readonly logFile: string;
  readonly signal: AbortSignal;
}

/**
 * Copies the sources of a tool and downloads all modules that they need; `report` is called with each step. All functions here are called by the holder of
 * the build lock.
 */
export async function stageTool(tool: Tool, signal: AbortSignal, report: (what: string) => void): Promise<Staged> {
  const entry = entryFolder(tool);
  const logFile = join(cacheFolder, "logs", `${tool.name}.log`);
  await mkdir(temporary, { recursive: true });
  await mkdir(join(cacheFolder, "logs"), { recursive: true });
  const log = createWriteStream(logFile);
  // If the log cannot be written the build continues; if the disk is full, go reports that itself.
  log.on("error", () => undefined);
  log.write(`${tool.name} ${toolVersion(tool)} with ${await goVersion()}\n`);
  const listener = fetchListener(log, signal, report);
  const stage = join(buildFolder, tool.name);
  const output = join(buildFolder, `${tool.name}.out`);
  const staged = { tool, key: basename(entry), entry, stage, output, listener, log, logFile, signal };
  report("fetching modules");
  await stageModule(tool, stage, listener);
  if (toolKey(tool) !== staged.key)
    throw new Failure(`the sources of ${tool.name} were edited just now: run it again.`);
  if (isProgram(tool)) await fetchModules({ ...staged, tool });
  else await collect({ ...staged, tool });
  report("");
  return staged;
}

function fetchListener(log: WriteStream, signal: AbortSignal, report: (what: string) => void): FetchListener {
  return {
    signal,
    onOutput: (text, stream) => void (stream === "stderr" && log.write(text)),
    onRetry(attempt, why) {
      log.write(`${why}: ${attempt}\n`);
      report(`fetching modules, ${attempt}`);
    },
  };
}

async function fetchModules({ tool, stage, listener, logFile }: Staged<Program>): Promise<void> {
  const list: GoCall = {
    cwd: stage,
    temporary,
    args: ["list", ...flags(tool), "-deps", "-f", "", tool.package],
    env: { GOMAXPROCS: `${downloads}` },
  };
  const listed = await goFetching(list, listener);
  if (listed.code !== 0) throw buildFailure(tool, "cannot download its modules", list, listed, logFile);
}

/** Collects the files of modules and those of the folder itself. */
async function collect({ tool, stage, output, listener }: Staged<FileSet>): Promise<void> {
  await copyFiles(tool.copied, stage, output, listener);
  const isModuleFile = (path: string) => /\.(mod|sum)$/.test(path);
  await cp(stage, output, { recursive: true, filter: (path) => !isModuleFile(path) });
}

/**
 * Compiles what was staged and publishes it in one step. `onLinking` is called when everything is compiled: then the next tool can start, because linking
 * leaves cores idle. What an interrupted build compiled stays in go's cache.
 */
export async function buildTool(staged: Staged, progress: StepProgress, onLinking: () => void): Promise<void> {
  const { tool, entry, output, log } = staged;
  try {
    if (isProgram(tool)) await compile({ ...staged, tool }, progress, onLinking);
    await describe(staged, progress);
    await publish(output, entry, join(buildFolder, `${tool.name}.replaced`));
    await noteCompiled(tool);
  } finally {
    log.end();
    await finished(log).catch(() => undefined);
  }
}

/** Builds the programs and the files next to them. */
async function compile(staged: Staged<Program>, progress: StepProgress, onLinking: () => void): Promise<void> {
  const { tool, stage, output, listener, log, logFile, signal } = staged;
  const total = await packagesToCompile(staged);
  progress.advance(0, total);
  await mkdir(output, { recursive: true });
  const build: GoCall = {
    cwd: stage,
    temporary,
    args: ["build", ...flags(tool), "-v", "-o", join(output, tool.commands[0]), tool.package],
    env: compilerMemory(),
  };
  let done = 0;
  let rest = "";
  const count = (packages: number) => {
    done += packages;
    progress.advance(Math.min(done, total), total);
    if (done < total) return;
    progress.doing("linking");
    onLinking();
  };
  const onOutput = (text: string) => {
    log.write(text);
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    count(lines.filter((line) => packageLine.test(line)).length);
  };
  count(0);
  const built = await go(build, { onOutput, signal });
  if (built.code !== 0) throw buildFailure(tool, "it does not compile", build, built, logFile);

  for (const alias of tool.commands.slice(1)) await symlink(tool.commands[0], join(output, alias));
  if (tool.scripts === undefined) return;
  const source = await moduleSource(stage, tool.scripts.module, listener);
  for (const script of tool.scripts.files) {
    await copyFile(join(source, script), join(output, basename(script)));
    await chmod(join(output, basename(script)), 0o755);
  }
}

/** The number of packages that go has not compiled yet. */
async function packagesToCompile({ tool, stage, signal }: Staged<Program>): Promise<number> {
  const template = "{{if .Stale}}{{.ImportPath}}{{end}}";
  const list: GoCall = { cwd: stage, temporary, args: ["list", ...flags(tool), "-deps", "-f", template, tool.package] };
  const { stdout } = await go(list, { signal });
  return stdout.split("\n").filter((line) => line !== "").length;
}

/** Writes entry.json next to the programs: what they are, and the hashes of their files. */
async function describe({ tool, key, output }: Staged, progress: StepProgress): Promise<void> {
  const paths = await readdir(output, { recursive: true });
  // stat follows links, so a link is recorded like the program itself.
  const found = await Promise.all(paths.map(async (path) => ({ path, status: await stat(join(output, path)) })));
  const files = found.filter(({ status }) => status.isFile());
  const counted = isProgram(tool) ? files.filter(({ path }) => path === tool.commands[0]) : files;
  await writeEntry(output, {
    tool: tool.name,
    version: toolVersion(tool),
    key,
    go: await goVersion(),
    builtAt: new Date().toISOString(),
    seconds: Math.round(progress.elapsed()),
    bytes: counted.reduce((sum, { status }) => sum + status.size, 0),
    ...(isProgram(tool) ? {} : { isFileSet: true }),
    files: await recordFiles(
      output,
      files.map(({ path }) => path),
    ),
  });
}

/** Flags of `go list` and `go build`: they must be equal, or the list would not match the build. */
function flags(tool: Program): string[] {
  const { moduleFile } = tool;
  return [...(moduleFile === undefined ? [] : [`-modfile=${moduleFile}`]), "-ldflags", linkFlags(tool)];
}

/** Without symbols and debug data, which double the size and are not used. */
function linkFlags(tool: Program): string {
  const version = toolVersion(tool);
  const [major = "", minor = ""] = version.split(".");
  const forms = { "v1.2.3": `v${version}`, "1.2.3": version, "1": major, "2": minor };
  const variables = Object.entries(tool.versionVariables ?? {}).map(([name, form]) => `-X ${name}=${forms[form]}`);
  return ["-s", "-w", ...variables].join(" ");
}

function buildFailure(tool: Tool, what: string, call: GoCall, ended: Ended, logFile: string): Failure {
  // Lines about compiled packages and downloaded modules are not part of the error.
  const errors = ended.stderr.split("\n").filter((line) => !/^([\w./~-]*$|go: downloading )/.test(line));
  const tail = errors.length > 0 ? errors.slice(-tailLines) : [`go ended with ${ended.code} and printed nothing`];
  return new Failure(
    [
      `${tool.name} ${toolVersion(tool)} could not be built: ${what}.`,
      ...tail.map((line) => `  ${line}`),
      `Full log: ${logFile}`,
      `To repeat it: ${shellLine(call)}`,
    ].join("\n"),
  );
}
