// Decides where the CLI and the plugins come from, and makes them ready for a run.
import { existsSync } from "node:fs";
import { link, mkdir, rm, symlink } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import { workFolder } from "../workspace/paths.ts";
import { ensureTools } from "./ensure.ts";
import { cliFolder, entryFolder, programPath, publish } from "./entry.ts";
import { downloadPlugins, findPulumi, hasPlugin, ordinaryHome, pluginFolder } from "./official.ts";
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
 * The CLI from PATH serves where it fits, and where the engine can download its plugins it does. What cannot be had
 * that way is built. There is no setting for it: a try takes a moment where nothing is reached, and is made only
 * while something is missing.
 */
export async function prepareToolchain(): Promise<Toolchain> {
  const onPath = await findPulumi();
  if (onPath === undefined) await ensureTools(cliTools);
  const folder = onPath === undefined ? await assembleCli() : undefined;
  const pulumi = folder === undefined ? "pulumi" : join(folder, "pulumi");
  const base: NodeJS.ProcessEnv = {
    ...process.env,
    ...(folder === undefined ? {} : { PATH: [folder, process.env.PATH].join(delimiter) }),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const cli = onPath === undefined ? ("built" as const) : ("PATH" as const);

  if (!(await haveBuiltPlugins()) && (await downloadPlugins(pulumi, base, ordinaryHome()))) {
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

/** All that `npm start` needs where nothing can be had the ordinary way. */
export function startTools(): Tool[] {
  return [...cliTools, ...pluginTools()];
}

/**
 * Puts the CLI, the language host and the wrapper for dynamic providers into one folder: beside the CLI the engine
 * takes them for its own, anywhere else on PATH each costs a warning. Hard links, because it looks where its own file
 * really lies.
 */
async function assembleCli(): Promise<string> {
  const folder = cliFolder();
  if (existsSync(folder)) return folder;
  const temporary = `${folder}.${process.pid}`;
  await mkdir(temporary, { recursive: true });
  for (const tool of cliTools) {
    const scripts = (tool.scripts?.files ?? []).map((file) => basename(file));
    for (const file of [...tool.commands, ...scripts]) await link(join(entryFolder(tool), file), join(temporary, file));
  }
  await publish(temporary, folder);
  return folder;
}

async function haveBuiltPlugins(): Promise<boolean> {
  for (const plugin of plugins) if (!(await hasPlugin(ownHome, plugin))) return false;
  return true;
}

/** Puts the built plugins where the engine looks for downloaded ones: found on PATH, each would cost a warning. */
async function linkPlugins(): Promise<void> {
  for (const plugin of plugins) {
    const folder = await pluginFolder(ownHome, plugin);
    const command = `pulumi-resource-${plugin.name}`;
    await rm(join(folder, command), { force: true });
    await mkdir(folder, { recursive: true });
    await symlink(programPath(toolNamed(plugin.tool), command), join(folder, command));
  }
}
