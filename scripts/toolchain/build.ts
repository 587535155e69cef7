// Builds one tool into the cache.
import { appendFile, chmod, copyFile, mkdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Failure } from "../workspace/fail.ts";
import { cacheFolder } from "../workspace/paths.ts";
import { entryFolder, publish, recordFiles, writeEntry } from "./entry.ts";
import { type GoCall, go, goFetching, goVersion, shellLine } from "./go.ts";
import { toolKey, toolVersion } from "./goModule.ts";
import type { Progress } from "./progress.ts";
import { moduleSource, removeStage, stageModule } from "./stage.ts";
import type { Tool } from "./tool.ts";

const tailLines = 30;

/** Builds the tool and publishes it in one step; what an interrupted build compiled is kept by go and not done again. */
export async function buildTool(tool: Tool, progress: Progress): Promise<void> {
  const started = Date.now();
  const key = toolKey(tool);
  const stage = join(cacheFolder, "build", tool.name);
  const output = join(cacheFolder, "build", `${tool.name}.out`);
  const logFile = join(cacheFolder, "logs", `${tool.name}.log`);
  await removeStage(stage);
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  await mkdir(join(cacheFolder, "logs"), { recursive: true });
  const version = await goVersion();
  await writeFile(logFile, `${tool.name} ${toolVersion(tool)} with ${version}\n`);
  const log = (text: string) => void appendFile(logFile, text);

  progress.doing("fetching modules");
  const folder = await stageModule(tool, stage, log);
  // Lists what will have to be compiled, and fetches every module on the way.
  const list: GoCall = {
    cwd: folder,
    args: [
      "list",
      ...moduleFlags(tool),
      "-deps",
      "-ldflags",
      linkFlags(tool),
      "-f",
      "{{if .Stale}}{{.ImportPath}}{{end}}",
      tool.package,
    ],
  };
  const listed = await goFetching(list, (text) => {
    if (text.includes("go: downloading")) log(text);
  });
  if (listed.code !== 0) throw await buildFailure(tool, "its modules cannot be had", list, listed.stderr, logFile);
  const total = listed.stdout.split("\n").filter((line) => line !== "").length;

  progress.doing("");
  const build: GoCall = {
    cwd: folder,
    args: [
      "build",
      ...moduleFlags(tool),
      "-v",
      "-ldflags",
      linkFlags(tool),
      "-o",
      join(output, tool.commands[0]),
      tool.package,
    ],
  };
  let done = 0;
  const built = await go(build, (text) => {
    log(text);
    done += text.split("\n").length - 1;
    progress.advance(Math.min(done, total), total);
  });
  if (built.code !== 0) throw await buildFailure(tool, "it does not compile", build, built.stderr, logFile);

  const files: string[] = [tool.commands[0]];
  // A link is looked at through to its target, so it is recorded like the program itself.
  for (const alias of tool.commands.slice(1)) await symlink(tool.commands[0], join(output, alias));
  if (tool.scripts !== undefined) {
    const source = await moduleSource(folder, tool.scripts.module, log);
    for (const script of tool.scripts.files) {
      await copyFile(join(source, script), join(output, basename(script)));
      await chmod(join(output, basename(script)), 0o755);
      files.push(basename(script));
    }
  }
  const records = await recordFiles(output, files);
  const program = records[tool.commands[0]];
  if (program === undefined) throw new Error(`${tool.commands[0]} was not recorded`);
  await writeEntry(output, {
    tool: tool.name,
    version: toolVersion(tool),
    key,
    go: version,
    builtAt: new Date().toISOString(),
    seconds: Math.round((Date.now() - started) / 1000),
    bytes: (await stat(join(output, tool.commands[0]))).size,
    files: { ...records, ...Object.fromEntries(tool.commands.map((name) => [name, program])) },
  });
  await mkdir(join(cacheFolder, "tools", tool.name), { recursive: true });
  await publish(output, entryFolder(tool));
  await removeStage(stage);
}

function moduleFlags({ moduleFile }: Tool): string[] {
  return moduleFile === undefined ? [] : [`-modfile=${moduleFile}`];
}

/** Symbols and debug data are left out: they double the size and nobody debugs these. */
function linkFlags(tool: Tool): string {
  const version = toolVersion(tool);
  const [major = "", minor = ""] = version.split(".");
  const forms = { "v1.2.3": `v${version}`, "1.2.3": version, "1": major, "2": minor };
  const variables = Object.entries(tool.versionVariables ?? {}).map(([name, form]) => `-X ${name}=${forms[form]}`);
  return ["-s", "-w", ...variables].join(" ");
}

async function buildFailure(tool: Tool, what: string, call: GoCall, stderr: string, logFile: string): Promise<Failure> {
  await appendFile(logFile, stderr);
  // `go build -v` names every package it compiles; the error is in the other lines.
  const errors = stderr.split("\n").filter((line) => line !== "" && !/^[\w./~-]+$/.test(line));
  return new Failure(
    [
      `${tool.name} ${toolVersion(tool)} could not be built: ${what}.`,
      ...errors.slice(-tailLines).map((line) => `  ${line}`),
      `The whole log: ${logFile}`,
      `To repeat it: ${shellLine(call)}`,
    ].join("\n"),
  );
}
