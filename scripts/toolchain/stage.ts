// A copy of toolchain/<module> in the cache, with what `go build` needs beside the committed files.
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Failure } from "../workspace/fail.ts";
import { preparations } from "./engineTools.ts";
import { goFetching } from "./go.ts";
import { moduleFiles, moduleFolder, requiredVersion } from "./goModule.ts";
import type { Edit, Tool } from "./tool.ts";

/** Makes the copy anew and returns its folder. */
export async function stageModule(tool: Tool, folder: string, onOutput: (text: string) => void): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  for (const file of moduleFiles(moduleFolder(tool))) {
    await cp(join(moduleFolder(tool), file), join(folder, file));
  }
  const { patched = [], copied = [] } = preparations[tool.module] ?? {};
  const source = (module: string) => moduleSource(folder, module, onOutput);
  for (const { module, folder: name, edits } of patched) {
    const copy = join(folder, "patched", name);
    await cp(await source(module), copy, { recursive: true });
    for (const edit of edits) await applyEdit(copy, edit);
  }
  for (const { module, from, files, to } of copied) {
    await mkdir(join(folder, to), { recursive: true });
    const sources = await source(module);
    for (const file of files) await cp(join(sources, from, file), join(folder, to, file));
  }
  return folder;
}

/** The folder of a module in the module cache, fetched and verified against go.sum. */
export async function moduleSource(folder: string, module: string, onOutput: (text: string) => void): Promise<string> {
  const version = requiredVersion(await readFile(join(folder, "go.mod"), "utf8"), module);
  const fetched = await goFetching(
    { cwd: folder, args: ["mod", "download", "-json", `${module}@v${version}`] },
    onOutput,
  );
  const answer: { Dir?: string; Error?: string } = fetched.stdout === "" ? {} : JSON.parse(fetched.stdout);
  if (answer.Dir === undefined) {
    throw new Failure(`cannot fetch ${module} v${version}: ${answer.Error ?? fetched.stderr.trim()}`);
  }
  return answer.Dir;
}

async function applyEdit(folder: string, edit: Edit): Promise<void> {
  const path = join(folder, edit.file);
  const text = await readFile(path, "utf8");
  const pattern = new RegExp(edit.find, "gm");
  const times = text.match(pattern)?.length ?? 0;
  if (times !== edit.times) {
    throw new Failure(
      `${edit.file} of ${basename(folder)} has changed: ${edit.find} matches ${times} times, not ${edit.times}. ` +
        "See scripts/toolchain/tools.ts for what is edited and why.",
    );
  }
  await makeWritable(path);
  await writeFile(path, text.replace(pattern, edit.replace));
}

/** The module cache is read-only, and so are copies of it. */
async function makeWritable(path: string): Promise<void> {
  await chmod(join(path, ".."), 0o755);
  await chmod(path, 0o644);
}

/** Removes a folder that holds copies out of the module cache. */
export async function removeStage(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
  await rm(folder, { recursive: true, force: true });
}
