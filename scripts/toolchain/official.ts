// The ordinary way to the Pulumi CLI and its plugins: the one on PATH, and the engine's own downloads.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import semver from "semver";
import { root } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import type { Plugin } from "./tool.ts";
import { plugins } from "./tools.ts";

/** What a CLI from PATH must be: the first that runs @pulumi/pulumi 3.259 programs as tested, and no next major. */
const fittingCli = ">=3.220.0 <4.0.0";

/** The first try either fails within moments or is a download that works; then the rest may take its time. */
const firstTry = 20_000;
const eachPlugin = 300_000;

/** A fitting `pulumi` from PATH, with its version. */
export async function findPulumi(): Promise<{ readonly version: string } | undefined> {
  const asked = await run("pulumi", ["version"], { timeout: 10_000 }).catch(() => undefined);
  const version = semver.clean(asked?.stdout.trim() ?? "");
  return version !== null && semver.satisfies(version, fittingCli) ? { version } : undefined;
}

/** The version of a plugin that the engine asks for: that of its npm package. */
export async function pluginVersion(plugin: Plugin): Promise<string> {
  return (await npmManifest(plugin)).version.replace(/^v/, "");
}

async function npmManifest(plugin: Plugin): Promise<{ version: string; pulumi?: { server?: string } }> {
  return JSON.parse(await readFile(join(root, "node_modules", plugin.npm, "package.json"), "utf8"));
}

/** Where the engine keeps a plugin below its home. */
export async function pluginFolder(home: string, plugin: Plugin): Promise<string> {
  return join(home, "plugins", `resource-${plugin.name}-v${await pluginVersion(plugin)}`);
}

/** The engine's home when nobody sets another. */
export function ordinaryHome(): string {
  return process.env.PULUMI_HOME || join(homedir(), ".pulumi");
}

/** Whether the engine finds the plugin below its home. */
export async function hasPlugin(home: string, plugin: Plugin): Promise<boolean> {
  return existsSync(join(await pluginFolder(home, plugin), `pulumi-resource-${plugin.name}`));
}

/** Lets the CLI download the plugins that are missing; false when it cannot reach them. */
export async function downloadPlugins(pulumi: string, environment: NodeJS.ProcessEnv, home: string): Promise<boolean> {
  let timeout = firstTry;
  for (const plugin of plugins) {
    if (await hasPlugin(home, plugin)) continue;
    const version = await pluginVersion(plugin);
    const { server } = (await npmManifest(plugin)).pulumi ?? {};
    const args = ["plugin", "install", "resource", plugin.name, version, ...(server ? ["--server", server] : [])];
    const installed = await run(pulumi, args, { env: environment, timeout }).catch(() => undefined);
    if (installed?.code !== 0) return false;
    timeout = eachPlugin;
  }
  return true;
}
