// `npm run doctor`: checks this machine, and says what to do. Changes nothing and builds nothing.
import { statSync } from "node:fs";
import { join } from "node:path";
import { allPlatforms } from "../../stacks/platforms/registry.ts";
import { onlyHelp } from "../base/commandLine.ts";
import { Failure, main } from "../base/fail.ts";
import { cacheFolder, root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { type Check, checkLines, clockCheck, variableChecks } from "../inspect/machineChecks.ts";
import { missingForLab } from "../lab/labHost.ts";
import { areBuilt } from "../toolchain/ensure.ts";
import { goVersion } from "../toolchain/go.ts";
import { fittingCli, hasPlugin, ordinaryHome, pluginVersion, pulumiOnPath } from "../toolchain/official.ts";
import { checkSpace, freeGibibytes } from "../toolchain/space.ts";
import { startTools, usesBuiltPlugins } from "../toolchain/toolchain.ts";
import { plugins } from "../toolchain/tools.ts";

const usage = `npm run doctor

Checks this machine: Node, Go, git, namespaces for labs, disk space, the cache of built tools, pulumi on PATH, plugins, the variables that commands read (their
names, never their values) and the clock. Prints for each what was found and what to do. Needs no network, changes nothing.
Exit codes: 0 all that 'npm start' needs is there; 1 something is missing.`;

await main(async () => {
  if (onlyHelp(usage)) return 0;
  const all = await Promise.all([node(), go(), git(), labs(), cache(), disk(), pulumi(), pluginsHere(), clock()]);
  const checks = [...all, ...variables()];
  for (const line of checkLines(checks)) console.log(line);
  return checks.some(({ state }) => state === "missing") ? 1 : 0;
});

async function node(): Promise<Check> {
  return { name: "Node", state: "ok", found: `${process.versions.node}, from node_modules` };
}

async function go(): Promise<Check> {
  const [found, built] = await Promise.all([settled(goVersion()), areBuilt(startTools())]);
  if (found.reason === undefined) return { name: "Go", state: "ok", found: found.value };
  return {
    name: "Go",
    state: built ? "note" : "missing",
    found: built ? "not needed: all tools are built" : "needed to build tools",
    whatToDo: found.reason,
  };
}

async function git(): Promise<Check> {
  const asked = await run("git", ["--version"]).catch(() => undefined);
  if (asked?.code === 0) return { name: "git", state: "ok", found: asked.stdout.trim() };
  return { name: "git", state: "missing", found: "not on PATH", whatToDo: "install git" };
}

async function labs(): Promise<Check> {
  const missing = (await missingForLab()).filter((line) => !line.startsWith("git "));
  if (missing.length === 0) return { name: "namespaces", state: "ok", found: "labs can run here" };
  return { name: "namespaces", state: "missing", found: "no lab can run here", whatToDo: missing.join("\n") };
}

async function cache(): Promise<Check> {
  const built = await areBuilt(startTools());
  if (built) return { name: "cache", state: "ok", found: `all tools are built, in ${cacheFolder}` };
  return {
    name: "cache",
    state: "note",
    found: `tools are missing in ${cacheFolder}`,
    whatToDo: "nothing: the first command that needs them builds them",
  };
}

async function disk(): Promise<Check> {
  const free = `${(await freeGibibytes()).toFixed(1)} GiB free`;
  const found = (await areBuilt(startTools())) ? { value: undefined } : await settled(checkSpace(startTools()));
  if (!("reason" in found) || found.reason === undefined) return { name: "disk", state: "ok", found: free };
  return { name: "disk", state: "missing", found: free, whatToDo: found.reason };
}

async function pulumi(): Promise<Check> {
  const onPath = await pulumiOnPath();
  if (onPath === undefined) return { name: "pulumi", state: "note", found: "not on PATH: it is built from Go modules" };
  if (onPath.fits) return { name: "pulumi", state: "ok", found: `${onPath.version}, on PATH` };
  return {
    name: "pulumi",
    state: "note",
    found: `${onPath.version} on PATH is not used: must be ${fittingCli}`,
    whatToDo: "nothing: another is built; or install one that fits",
  };
}

async function pluginsHere(): Promise<Check> {
  if (await usesBuiltPlugins()) return { name: "plugins", state: "ok", found: "built from Go modules" };
  const missing: string[] = [];
  for (const plugin of plugins)
    if (!(await hasPlugin(ordinaryHome(), plugin))) missing.push(`${plugin.name} ${await pluginVersion(plugin)}`);
  if (missing.length === 0) return { name: "plugins", state: "ok", found: `downloaded, in ${ordinaryHome()}` };
  return {
    name: "plugins",
    state: "note",
    found: `not here yet: ${missing.join(", ")}`,
    whatToDo: "nothing: the first command downloads or builds them",
  };
}

function variables(): readonly Check[] {
  const tokens = allPlatforms.flatMap(({ title, account }) =>
    account === undefined ? [] : [{ name: account.token.variable, use: `token of ${title}` }],
  );
  return variableChecks(process.env, [
    ...tokens,
    { name: "PULUMI_BACKEND_URL", use: "your own backend for states" },
    { name: "PULUMI_CONFIG_PASSPHRASE_FILE", use: "your own passphrase, in a file" },
    { name: "SLUICE_CACHE", use: "another folder for built tools" },
  ]);
}

async function clock(): Promise<Check> {
  const asked = await run("timedatectl", ["show", "--property=NTPSynchronized", "--value"], { timeout: 2_000 }).catch(
    () => undefined,
  );
  const answer = asked?.stdout.trim();
  const isSynchronized = answer === "yes" ? true : answer === "no" ? false : undefined;
  return clockCheck(new Date(), statSync(join(root, "package-lock.json")).mtime, isSynchronized);
}

/** A refusal as its message; anything else is a bug. */
async function settled<T>(
  work: Promise<T>,
): Promise<{ readonly value: T; readonly reason?: undefined } | { readonly reason: string }> {
  try {
    return { value: await work };
  } catch (error) {
    if (error instanceof Failure) return { reason: error.message };
    throw error;
  }
}
