// A copy of toolchain/<module> in the cache, with what `go build` needs besides the committed files.
import { chmod, copyFile, cp, glob, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { Failure } from "../base/fail.ts";
import { preparations } from "./engineTools.ts";
import { type FetchListener, type GoCall, goFetching, shellLine } from "./go.ts";
import { moduleFolder, requiredVersion, sourceFiles } from "./goModule.ts";
import { type Copied, type Edit, isProgram, type Tool } from "./tool.ts";

/** Creates the copy in a folder that does not exist yet. */
export async function stageModule(tool: Tool, folder: string, listener: FetchListener): Promise<void> {
  for (const file of sourceFiles(tool)) {
    await cp(join(moduleFolder(tool), file), join(folder, file));
  }
  if (!isProgram(tool)) return;
  const { patched = [], copied = [] } = preparations[tool.module] ?? {};
  for (const { module, folder: name, edits } of patched) {
    const copy = join(folder, "patched", name);
    await cp(await moduleSource(folder, module, listener), copy, { recursive: true });
    for (const edit of edits) await applyEdit(copy, edit);
  }
  await copyFiles(copied, folder, folder, listener);
}

/** Copies files out of modules that a staged go.mod requires. */
export async function copyFiles(
  copied: readonly Copied[],
  stage: string,
  folder: string,
  listener: FetchListener,
): Promise<void> {
  for (const { module, from, files, to } of copied) {
    const source = join(await moduleSource(stage, module, listener), from);
    const found = await Array.fromAsync(glob([...files], { cwd: source, withFileTypes: true }));
    const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    if (paths.length === 0) throw new Failure(`${module} has no ${files.join(", ")} in ${from}`);
    for (const path of paths) {
      const target = join(folder, to, relative(source, path));
      await mkdir(dirname(target), { recursive: true });
      await copyFile(path, target);
      await chmod(target, 0o644);
    }
  }
}

/** The folder of a module in the module cache, downloaded and verified against go.sum. */
export async function moduleSource(folder: string, module: string, listener: FetchListener): Promise<string> {
  const version = requiredVersion(await readFile(join(folder, "go.mod"), "utf8"), module);
  const call: GoCall = { cwd: folder, args: ["mod", "download", "-json", `${module}@v${version}`] };
  const fetched = await goFetching(call, listener);
  const { Dir, Error: error = fetched.stderr.trim() } = downloadAnswer(fetched.stdout);
  if (fetched.code === 0 && Dir !== undefined) return Dir;
  throw new Failure(`cannot download ${module} v${version}: ${error}\nTo repeat it: ${shellLine(call)}`);
}

/** Go's information about the module; a call that was ended early printed nothing, or only a part. */
function downloadAnswer(text: string): { readonly Dir?: string; readonly Error?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

async function applyEdit(folder: string, edit: Edit): Promise<void> {
  const path = join(folder, edit.file);
  const text = await readFile(path, "utf8");
  const pattern = new RegExp(edit.find, "gm");
  const times = text.match(pattern)?.length ?? 0;
  if (times !== edit.times) {
    throw new Failure(
      `${edit.file} of ${basename(folder)} has changed: ${edit.find} matches ${times} times instead of ${edit.times}. ` +
        "See scripts/toolchain/engineTools.ts for what is edited and why.",
    );
  }
  await makeWritable(path);
  await writeFile(path, text.replace(pattern, edit.replace));
}

/** The module cache is read-only, and copies of it are too. */
async function makeWritable(path: string): Promise<void> {
  await chmod(join(path, ".."), 0o755);
  await chmod(path, 0o644);
}
