// The ordinary way to the Pulumi CLI and its plugins: the one on PATH, and the engine's own downloads.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import semver from "semver";
import { root } from "../workspace/paths.ts";
import { run } from "../workspace/run.ts";
import { standardError } from "./progress.ts";
import type { Plugin } from "./tool.ts";
import { plugins } from "./tools.ts";

/** What a CLI from PATH must be: the first that runs @pulumi/pulumi 3.259 programs as tested, and no next major. */
export const fittingCli = ">=3.220.0 <4.0.0";

/** Milliseconds in which something must come of a download: where nothing is reached, that is soon known. */
const ordinaryStall = 20_000;

/** The `pulumi` on PATH, and whether it fits. */
export async function pulumiOnPath(): Promise<{ readonly version: string; readonly fits: boolean } | undefined> {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const asked = await run("pulumi", ["version"], { env, timeout: 10_000 }).catch(() => undefined);
  const version = asked?.code === 0 ? semver.clean(asked.stdout.trim()) : null;
  return version === null || version === undefined
    ? undefined
    : { version, fits: semver.satisfies(version, fittingCli) };
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
  const folder = await pluginFolder(home, plugin);
  // The engine marks so what it has not downloaded to its end.
  return existsSync(join(folder, `pulumi-resource-${plugin.name}`)) && !existsSync(`${folder}.partial`);
}

/** Lets the CLI download the plugins that are missing; false when it cannot reach them. */
export async function downloadPlugins(
  pulumi: string,
  environment: NodeJS.ProcessEnv,
  home: string,
  stall = ordinaryStall,
): Promise<boolean> {
  for (const plugin of plugins) {
    if (await hasPlugin(home, plugin)) continue;
    const version = await pluginVersion(plugin);
    const { server } = (await npmManifest(plugin)).pulumi ?? {};
    const args = ["plugin", "install", "resource", plugin.name, version, ...(server ? ["--server", server] : [])];
    standardError.write(`sluice: trying to download the plugin ${plugin.name} ${version}\n`);
    const installed = await run(pulumi, args, { env: environment, stall });
    if (installed.code !== 0 || !(await hasPlugin(home, plugin))) {
      standardError.write("sluice: it cannot be had that way: the plugins are built\n");
      return false;
    }
  }
  return true;
}
