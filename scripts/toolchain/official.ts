// The official Pulumi CLI and plugins: the CLI on PATH, and the engine's own downloads.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import semver from "semver";
import { root } from "../base/paths.ts";
import { reporting } from "../base/reporting.ts";
import { run } from "../base/run.ts";
import { standardError } from "./progress.ts";
import type { Plugin } from "./tool.ts";
import { plugins } from "./tools.ts";

/** The versions of a CLI on PATH that are accepted: from the first that runs @pulumi/pulumi 3.259 programs as tested, up to the next major version. */
export const fittingCli = ">=3.220.0 <4.0.0";

/** Milliseconds that a download may be silent. An unreachable server is noticed sooner. */
const ordinaryStallMs = 20_000;

/** The `pulumi` on PATH, and whether it fits. */
export async function pulumiOnPath(): Promise<{ readonly version: string; readonly fits: boolean } | undefined> {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const asked = await run("pulumi", ["version"], { env, timeout: 10_000 }).catch(() => undefined);
  const version = asked?.code === 0 ? semver.clean(asked.stdout.trim()) : null;
  return version === null || version === undefined
    ? undefined
    : { version, fits: semver.satisfies(version, fittingCli) };
}

/** The version of a plugin that the engine requests: that of its npm package. */
export async function pluginVersion(plugin: Plugin): Promise<string> {
  return (await npmManifest(plugin)).version.replace(/^v/, "");
}

async function npmManifest(plugin: Plugin): Promise<{ version: string; pulumi?: { server?: string } }> {
  return JSON.parse(await readFile(join(root, "node_modules", plugin.npm, "package.json"), "utf8"));
}

/** Where the engine keeps a plugin in its home. */
export async function pluginFolder(home: string, plugin: Plugin): Promise<string> {
  return join(home, "plugins", `resource-${plugin.name}-v${await pluginVersion(plugin)}`);
}

/** The engine's home, unless the user sets another. */
export function ordinaryHome(): string {
  return process.env.PULUMI_HOME || join(homedir(), ".pulumi");
}

/** Whether the engine finds the plugin in its home. */
export async function hasPlugin(home: string, plugin: Plugin): Promise<boolean> {
  const folder = await pluginFolder(home, plugin);
  // The engine's mark for an incomplete download.
  return existsSync(join(folder, `pulumi-resource-${plugin.name}`)) && !existsSync(`${folder}.partial`);
}

export interface DownloadOptions {
  /** The engine's home. */
  readonly home: string;
  readonly print?: ((text: string) => void) | undefined;
  readonly stallMs?: number;
}

/** Lets the CLI download the missing plugins; false if it cannot reach them. */
export async function downloadPlugins(
  pulumi: string,
  environment: NodeJS.ProcessEnv,
  { home, print = (text) => standardError.write(text), stallMs = ordinaryStallMs }: DownloadOptions,
): Promise<boolean> {
  for (const plugin of plugins) {
    if (await hasPlugin(home, plugin)) continue;
    const version = await pluginVersion(plugin);
    const { server } = (await npmManifest(plugin)).pulumi ?? {};
    const args = ["plugin", "install", "resource", plugin.name, version, ...(server ? ["--server", server] : [])];
    print(`sluice: trying to download the plugin ${plugin.name} ${version}\n`);
    const install = () => run(pulumi, args, { env: environment, stall: stallMs });
    const installed = await reporting(`downloading the plugin ${plugin.name}`, install, print);
    if (installed.code !== 0 || !(await hasPlugin(home, plugin))) {
      print("sluice: it cannot be downloaded: building the plugins instead\n");
      return false;
    }
  }
  return true;
}
