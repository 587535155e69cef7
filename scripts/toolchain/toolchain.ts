// Decides where the CLI and the plugins come from, and prepares them for a run.
import { link, mkdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import { workFolder } from "../base/paths.ts";
import { areBuilt, ensureTools } from "./ensure.ts";
import { cliFolder, entryFolder, programPath } from "./entry.ts";
import { charts, labTools } from "./labTools.ts";
import { downloadPlugins, hasPlugin, ordinaryHome, pluginFolder, pulumiOnPath } from "./official.ts";
import type { Tool } from "./tool.ts";
import { cliTools, pluginNamed, plugins, toolNamed } from "./tools.ts";

export interface Toolchain {
  /** The CLI to call. */
  readonly pulumi: string;
  /** The environment variables for a call of it. */
  readonly environment: NodeJS.ProcessEnv;
  readonly origin: { readonly cli: "PATH" | "built"; readonly plugins: "downloaded" | "built" };
}

/** The engine's home with built plugins: one per checkout, because another checkout may need other builds. */
const ownHome = join(workFolder, "pulumi");

/**
 * How many steps the engine runs at once. They mostly wait, so the default, which depends on the number of cores, is too low: with eight at once, a refresh
 * of a dead cluster of seven nodes would take half a minute.
 */
const steps = "32";

/**
 * Uses the CLI from PATH if it fits, and plugins that the engine downloads if it can. Everything else is built, together with `alsoNeeded`, so that one line
 * announces everything. There is no setting for this: an attempt to download takes a moment if the server is unreachable, and is only made while something is
 * missing.
 */
export async function prepareToolchain(alsoNeeded: readonly Tool[] = []): Promise<Toolchain> {
  const cli = (await pulumiOnPath())?.fits === true ? ("PATH" as const) : ("built" as const);
  const ofCli = cli === "PATH" ? [] : cliTools;
  const tryDownloads = async (print?: (text: string) => void) => {
    const { pulumi, environment } = await findCli(cli);
    return downloadPlugins(pulumi, environment, { home: ordinaryHome(), print });
  };

  // If they were built for another checkout, they are used here as well: downloads were tried then.
  const haveBuilt = (await usesBuiltPlugins()) || (await areBuilt(pluginTools()));
  let areDownloaded = false;
  if (haveBuilt || (await areBuilt(ofCli))) {
    areDownloaded = !haveBuilt && (await tryDownloads());
    await ensureTools([...ofCli, ...(areDownloaded ? [] : pluginTools()), ...alsoNeeded]);
  } else {
    const isNeeded = async (print: (text: string) => void) => {
      areDownloaded = await tryDownloads(print);
      return !areDownloaded;
    };
    const undecided = { tools: pluginTools(), after: ofCli, isNeeded };
    await ensureTools([...ofCli, ...pluginTools(), ...alsoNeeded], undecided);
  }
  const { pulumi, environment } = await findCli(cli);
  if (areDownloaded) return { pulumi, environment, origin: { cli, plugins: "downloaded" } };
  await linkPlugins();
  return { pulumi, environment: { ...environment, PULUMI_HOME: ownHome }, origin: { cli, plugins: "built" } };
}

/** The CLI, and the environment variables for a call of it. */
async function findCli(origin: "PATH" | "built"): Promise<Pick<Toolchain, "pulumi" | "environment">> {
  const folder = origin === "PATH" ? undefined : await assembleCli();
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    ...(folder === undefined ? {} : { PATH: [folder, process.env.PATH].join(delimiter) }),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_PARALLEL: process.env.PULUMI_PARALLEL || steps,
  };
  return { pulumi: folder === undefined ? "pulumi" : join(folder, "pulumi"), environment };
}

const talos = pluginNamed("talos");
const builtTalos = toolNamed(talos.tool);
const talosProgram = `pulumi-resource-${talos.name}`;

/** The Talos plugin alone, for commands that need no engine. */
export async function talosPlugin(): Promise<string> {
  const present = await presentTalosPlugin();
  if (present !== undefined) return present;
  await ensureTools([builtTalos]);
  return programPath(builtTalos, talosProgram);
}

/** The same if it is downloaded or built already. */
export async function presentTalosPlugin(): Promise<string | undefined> {
  if (await hasPlugin(ordinaryHome(), talos)) return join(await pluginFolder(ordinaryHome(), talos), talosProgram);
  return (await areBuilt([builtTalos])) ? programPath(builtTalos, talosProgram) : undefined;
}

/** The tools that replace the official plugins. */
export function pluginTools(): Tool[] {
  return [...new Set(plugins.map((plugin) => plugin.tool))].map(toolNamed);
}

/** Everything that `npm start` needs if nothing can be downloaded: the engine, and what its lab runs. */
export function startTools(): Tool[] {
  return [...cliTools, ...pluginTools(), ...labTools, charts];
}

/**
 * Puts the CLI, the language host and the wrapper for dynamic providers into one folder: the engine treats programs next to the CLI as its own, but warns
 * about each one elsewhere on PATH. Uses hard links, because it searches the real folder of its own file.
 */
async function assembleCli(): Promise<string> {
  const folder = cliFolder();
  await mkdir(folder, { recursive: true });
  for (const tool of cliTools) {
    const scripts = (tool.scripts?.files ?? []).map((file) => basename(file));
    for (const file of [...tool.commands, ...scripts]) {
      const program = join(entryFolder(tool), file);
      // After damage a program was rebuilt, and is another file.
      if ((await inode(join(folder, file))) === (await inode(program))) continue;
      await replace(join(folder, file), (temporary) => link(program, temporary));
    }
  }
  return folder;
}

async function inode(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.ino;
}

/** Whether this checkout uses built plugins, and has them all. */
export async function usesBuiltPlugins(): Promise<boolean> {
  for (const plugin of plugins) if (!(await hasPlugin(ownHome, plugin))) return false;
  return true;
}

/** Links the built plugins to where the engine searches for downloaded ones: it would warn about each one found on PATH. */
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

/** Replaces a file in one step, because another run may be using it. */
async function replace(path: string, make: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  await rm(temporary, { force: true });
  await make(temporary);
  await rename(temporary, path);
  // If both are links to the same file, renaming keeps both.
  await rm(temporary, { force: true });
}
