// Builds one tool into the cache.
import { createWriteStream } from "node:fs";
import { chmod, copyFile, cp, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { finished } from "node:stream/promises";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import type { Ended } from "../workspace/run.ts";
import { entryFolder, publish, recordFiles, writeEntry } from "./entry.ts";
import { buildFolder, type FetchListener, type GoCall, go, goFetching, goVersion, shellLine } from "./go.ts";
import { toolKey, toolVersion } from "./goModule.ts";
import type { Progress } from "./progress.ts";
import { removeTree } from "./removeTree.ts";
import { noteCompiled } from "./space.ts";
import { copyFiles, moduleSource, stageModule } from "./stage.ts";
import { type FileSet, isProgram, type Program, type Tool } from "./tool.ts";

const tailLines = 30;

/** On the disk whose space is checked, and removed before the next build: /tmp is in memory on many machines. */
const temporary = join(buildFolder, "tmp");

/**
 * Builds the tool and publishes it in one step. What an interrupted build compiled is kept by go and not done again.
 * To be called by the holder of the build lock.
 */
export async function buildTool(tool: Tool, progress: Progress): Promise<void> {
  const version = await goVersion();
  const entry = entryFolder(tool);
  const key = basename(entry);
  await removeTree(buildFolder);
  await mkdir(temporary, { recursive: true });
  await mkdir(join(cacheFolder, "logs"), { recursive: true });
  const logFile = join(cacheFolder, "logs", `${tool.name}.log`);
  const log = createWriteStream(logFile);
  // A log that cannot be written is no reason to stop; where the disk is full, go says so itself.
  log.on("error", () => undefined);
  log.write(`${tool.name} ${toolVersion(tool)} with ${version}\n`);
  try {
    const stage = join(buildFolder, tool.name);
    const output = join(buildFolder, `${tool.name}.out`);
    const tell = (text: string) => void log.write(text);
    const listener = startFetching(tell, progress);
    await stageModule(tool, stage, listener);
    if (toolKey(tool) !== key) throw new Failure(`the sources of ${tool.name} were edited just now: run it again.`);
    if (isProgram(tool)) await compile(tool, { stage, output, logFile, log: tell, listener, progress });
    else await collect(tool, stage, output, listener);
    await describe(tool, { key, output, go: version, progress });
    await publish(output, entry, join(buildFolder, "replaced"));
    await noteCompiled(tool);
    await removeTree(buildFolder);
  } finally {
    log.end();
    await finished(log).catch(() => undefined);
  }
}

function startFetching(log: (text: string) => void, progress: Progress): FetchListener {
  progress.doing("fetching modules");
  return {
    onOutput: (text, stream) => stream === "stderr" && log(text),
    onRetry(attempt, why) {
      log(`${why}: ${attempt}\n`);
      progress.doing(`fetching modules, ${attempt}`);
    },
  };
}

/** Puts together the files of modules and those of the folder itself. */
async function collect(tool: FileSet, stage: string, output: string, listener: FetchListener): Promise<void> {
  await copyFiles(tool.copied, stage, output, listener);
  const isModuleFile = (path: string) => /\.(mod|sum)$/.test(path);
  await cp(stage, output, { recursive: true, filter: (path) => !isModuleFile(path) });
}

interface Work {
  /** Where the module is copied to, and where the programs go. */
  readonly stage: string;
  readonly output: string;
  readonly logFile: string;
  readonly log: (text: string) => void;
  readonly listener: FetchListener;
  readonly progress: Progress;
}

/** Makes the programs and what belongs beside them. */
async function compile(tool: Program, work: Work): Promise<void> {
  const { stage, output, logFile, log, listener, progress } = work;
  // Lists what will have to be compiled, and fetches every module on the way.
  const list: GoCall = {
    cwd: stage,
    temporary,
    args: ["list", ...flags(tool), "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", tool.package],
  };
  const listed = await goFetching(list, listener.onOutput, listener.onRetry);
  if (listed.code !== 0) throw buildFailure(tool, "its modules cannot be had", list, listed, logFile);
  const total = listed.stdout.split("\n").filter((line) => line !== "").length;

  progress.doing("");
  progress.advance(0, total);
  await mkdir(output, { recursive: true });
  const build: GoCall = {
    cwd: stage,
    temporary,
    args: ["build", ...flags(tool), "-v", "-o", join(output, tool.commands[0]), tool.package],
  };
  let done = 0;
  const onOutput = (text: string) => {
    log(text);
    done += text.split("\n").length - 1;
    progress.advance(Math.min(done, total), total);
  };
  const built = await go(build, { onOutput });
  if (built.code !== 0) throw buildFailure(tool, "it does not compile", build, built, logFile);

  for (const alias of tool.commands.slice(1)) await symlink(tool.commands[0], join(output, alias));
  if (tool.scripts === undefined) return;
  const source = await moduleSource(stage, tool.scripts.module, listener);
  for (const script of tool.scripts.files) {
    await copyFile(join(source, script), join(output, basename(script)));
    await chmod(join(output, basename(script)), 0o755);
  }
}

/** Writes beside the programs what they are and what they must look like. */
async function describe(
  tool: Tool,
  { key, output, go, progress }: { key: string; output: string; go: string; progress: Progress },
): Promise<void> {
  const paths = await readdir(output, { recursive: true });
  // A link is looked at through to its target, so it is recorded like the program itself.
  const found = await Promise.all(paths.map(async (path) => ({ path, status: await stat(join(output, path)) })));
  const files = found.filter(({ status }) => status.isFile());
  const counted = isProgram(tool) ? files.filter(({ path }) => path === tool.commands[0]) : files;
  await writeEntry(output, {
    tool: tool.name,
    version: toolVersion(tool),
    key,
    go,
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

/** What go is told of the tool, when it lists and when it builds: else it would list what it does not build. */
function flags(tool: Program): string[] {
  const { moduleFile } = tool;
  return [...(moduleFile === undefined ? [] : [`-modfile=${moduleFile}`]), "-ldflags", linkFlags(tool)];
}

/** Symbols and debug data are left out: they double the size and nobody debugs these. */
function linkFlags(tool: Program): string {
  const version = toolVersion(tool);
  const [major = "", minor = ""] = version.split(".");
  const forms = { "v1.2.3": `v${version}`, "1.2.3": version, "1": major, "2": minor };
  const variables = Object.entries(tool.versionVariables ?? {}).map(([name, form]) => `-X ${name}=${forms[form]}`);
  return ["-s", "-w", ...variables].join(" ");
}

function buildFailure(tool: Tool, what: string, call: GoCall, ended: Ended, logFile: string): Failure {
  // Packages that go names as it compiles them, and modules as it fetches them, are no part of the error.
  const errors = ended.stderr.split("\n").filter((line) => !/^([\w./~-]*$|go: downloading )/.test(line));
  const tail = errors.length > 0 ? errors.slice(-tailLines) : [`go ended with ${ended.code} and said nothing`];
  return new Failure(
    [
      `${tool.name} ${toolVersion(tool)} could not be built: ${what}.`,
      ...tail.map((line) => `  ${line}`),
      `The whole log: ${logFile}`,
      `To repeat it: ${shellLine(call)}`,
    ].join("\n"),
  );
}
