// Decides where the CLI and the plugins come from, and makes them ready for a run.
import { link, mkdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import { labPrograms } from "../lab/programs.ts";
import { workFolder } from "../workspace/paths.ts";
import { areBuilt, ensureTools } from "./ensure.ts";
import { cliFolder, entryFolder, programPath } from "./entry.ts";
import { charts } from "./labTools.ts";
import { downloadPlugins, hasPlugin, ordinaryHome, pluginFolder, pulumiOnPath } from "./official.ts";
import type { Tool } from "./tool.ts";
import { cliTools, pluginNamed, plugins, toolNamed } from "./tools.ts";

export interface Toolchain {
  /** The CLI to call. */
  readonly pulumi: string;
  /** What a call of it needs in its environment. */
  readonly environment: NodeJS.ProcessEnv;
  readonly origin: { readonly cli: "PATH" | "built"; readonly plugins: "downloaded" | "built" };
}

/** The engine's home when the plugins in it are ours: one for each checkout, for another may need another build. */
const ownHome = join(workFolder, "pulumi");

/**
 * How many steps the engine takes at once. What they do is wait for others, so the number of cores, which it goes by itself, says
 * nothing: with eight lanes a refresh would look at a dead cluster of seven nodes for half a minute.
 */
const steps = "32";

/**
 * The CLI from PATH serves where it fits, and where the engine can download its plugins it does. What cannot be had
 * that way is built. There is no setting for it: a try takes a moment where nothing is reached, and is made only
 * while something is missing.
 */
export async function prepareToolchain(): Promise<Toolchain> {
  const onPath = (await pulumiOnPath())?.fits === true;
  if (!onPath) await ensureTools(cliTools);
  const folder = onPath ? undefined : await assembleCli();
  const pulumi = folder === undefined ? "pulumi" : join(folder, "pulumi");
  const base: NodeJS.ProcessEnv = {
    ...process.env,
    ...(folder === undefined ? {} : { PATH: [folder, process.env.PATH].join(delimiter) }),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_PARALLEL: process.env.PULUMI_PARALLEL || steps,
  };
  const cli = onPath ? ("PATH" as const) : ("built" as const);

  // Built for another checkout, they serve this one as well: downloads were tried then.
  const haveBuilt = (await usesBuiltPlugins()) || (await areBuilt(pluginTools()));
  if (!haveBuilt && (await downloadPlugins(pulumi, base, ordinaryHome()))) {
    return { pulumi, environment: base, origin: { cli, plugins: "downloaded" } };
  }
  await ensureTools(pluginTools());
  await linkPlugins();
  return { pulumi, environment: { ...base, PULUMI_HOME: ownHome }, origin: { cli, plugins: "built" } };
}

/** The Talos plugin alone, for what needs no engine. */
export async function talosPlugin(): Promise<string> {
  const plugin = pluginNamed("talos");
  const program = `pulumi-resource-${plugin.name}`;
  if (await hasPlugin(ordinaryHome(), plugin)) return join(await pluginFolder(ordinaryHome(), plugin), program);
  await ensureTools([toolNamed(plugin.tool)]);
  return programPath(toolNamed(plugin.tool), program);
}

/** The tools that stand in for the official plugins. */
export function pluginTools(): Tool[] {
  return [...new Set(plugins.map((plugin) => plugin.tool))].map(toolNamed);
}

/** All that `npm start` needs where nothing can be had the ordinary way: what the engine is, and what its lab runs. */
export function startTools(): Tool[] {
  return [...cliTools, ...pluginTools(), ...labPrograms, charts];
}

/**
 * Puts the CLI, the language host and the wrapper for dynamic providers into one folder: beside the CLI the engine
 * takes them for its own, anywhere else on PATH each costs a warning. Hard links, because it looks where its own file
 * really lies.
 */
async function assembleCli(): Promise<string> {
  const folder = cliFolder();
  await mkdir(folder, { recursive: true });
  for (const tool of cliTools) {
    const scripts = (tool.scripts?.files ?? []).map((file) => basename(file));
    for (const file of [...tool.commands, ...scripts]) {
      const program = join(entryFolder(tool), file);
      // What was built again after damage is another file.
      if ((await inode(join(folder, file))) === (await inode(program))) continue;
      await replace(join(folder, file), (temporary) => link(program, temporary));
    }
  }
  return folder;
}

async function inode(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.ino;
}

/** Whether this checkout runs on plugins that were built, and has them all. */
export async function usesBuiltPlugins(): Promise<boolean> {
  for (const plugin of plugins) if (!(await hasPlugin(ownHome, plugin))) return false;
  return true;
}

/** Puts the built plugins where the engine looks for downloaded ones: found on PATH, each would cost a warning. */
async function linkPlugins(): Promise<void> {
  for (const plugin of plugins) {
    const folder = await pluginFolder(ownHome, plugin);
    const command = `pulumi-resource-${plugin.name}`;
    const program = programPath(toolNamed(plugin.tool), command);
    await mkdir(folder, { recursive: true });
    if ((await readlink(join(folder, command)).catch(() => undefined)) === program) continue;
    await replace(join(folder, command), (temporary) => symlink(program, temporary));
  }
}

/** Makes a file anew in one step: another run may be using it. */
async function replace(path: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await rm(temporary, { force: true });
  await make(temporary);
  await rename(temporary, path);
  // Where both are links to one file, renaming leaves both.
  await rm(temporary, { force: true });
}
