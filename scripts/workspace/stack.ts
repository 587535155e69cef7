// Where an environment's state, passphrase and settings are.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { Failure } from "./fail.ts";
import { root, workFolder } from "./paths.ts";
import { run } from "./run.ts";

export interface Stack {
  readonly name: string;
  /** What a call of the CLI needs in its environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Options that select the stack and its settings. */
  readonly options: readonly string[];
  /** Where state and passphrase are; undefined when the person brought a backend of their own. */
  readonly local: { readonly state: string; readonly passphrase: string } | undefined;
}

const stateFolder = join(workFolder, "state");
const passphraseFile = join(workFolder, "passphrase");
const settingsFolder = join(workFolder, "settings");

/** The CLI's environment: the person's own backend where PULUMI_BACKEND_URL names one, else files in the checkout. */
export async function backendEnvironment(toolchain: Toolchain): Promise<NodeJS.ProcessEnv> {
  if (process.env.PULUMI_BACKEND_URL) return toolchain.environment;
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  return {
    ...toolchain.environment,
    PULUMI_BACKEND_URL: `file://${stateFolder}`,
    // By file, so that it stands in no process list and no environment.
    ...(hasOwnPassphrase() ? {} : { PULUMI_CONFIG_PASSPHRASE_FILE: await makePassphrase() }),
  };
}

/** Makes an environment's stack ready for use. */
export async function prepareStack(toolchain: Toolchain, name: string): Promise<Stack> {
  const settings = await settingsFile(name);
  const environment = await backendEnvironment(toolchain);
  if (process.env.PULUMI_BACKEND_URL) return { name, environment, options: ["--stack", name], local: undefined };

  const own = hasOwnSalt(await readFile(settings, "utf8"));
  const folder = own ? root : settingsFolder;
  if (!own) await deriveSettings(settings, name);
  if (!existsSync(join(stateFolder, ".pulumi", "stacks", "sluice", `${name}.json`))) {
    const made = await run(toolchain.pulumi, ["stack", "init", name, "--no-select", "-C", folder], {
      env: environment,
    });
    if (made.code !== 0) throw new Failure(`cannot make the stack ${name}:\n${made.stderr.trim()}`);
  }
  return {
    name,
    environment,
    options: ["--stack", name, ...(own ? [] : ["--config-file", join(settingsFolder, `Pulumi.${name}.yaml`)])],
    local: { state: stateFolder, passphrase: passphraseFile },
  };
}

/**
 * Refuses, before the engine runs, what the engine would find late or say too much about. The check is loaded where
 * there is something to check: that takes a quarter of a second.
 */
export async function checkStack(toolchain: Toolchain, stack: Stack): Promise<void> {
  const text = await readFile(await settingsFile(stack.name), "utf8");
  if (!/sluice:(secretP|p)atches\b/.test(text)) return;
  const { checkStackPatches } = await import("../render/patches.ts");
  await checkStackPatches(toolchain, stack);
}

/** The file that an environment is described in, or an error that says which there are. */
export async function settingsFile(name: string): Promise<string> {
  const file = join(root, `Pulumi.${name}.yaml`);
  if (existsSync(file)) return file;
  const there = await environmentList();
  throw new Failure(`there is no environment '${name}': Pulumi.${name}.yaml is missing. There are: ${there}.`);
}

/** The environments that have a settings file. */
export async function environments(): Promise<string[]> {
  return (await readdir(root))
    .map((file) => /^Pulumi\.([\w-]+)\.yaml$/.exec(file)?.[1])
    .filter((name) => name !== undefined)
    .sort();
}

/** The same for a person to read. */
export async function environmentList(): Promise<string> {
  return (await environments()).join(", ");
}

/**
 * The CLI writes the salt of the passphrase into the stack's settings. An environment that has none there yet, as the
 * worked ones, keeps it in a copy, so that a clone stays clean; one that holds encrypted values brings its own.
 */
async function deriveSettings(settings: string, name: string): Promise<void> {
  await mkdir(settingsFolder, { recursive: true, mode: 0o700 });
  await copyFile(join(root, "Pulumi.yaml"), join(settingsFolder, "Pulumi.yaml"));
  const copy = join(settingsFolder, `Pulumi.${name}.yaml`);
  const before = existsSync(copy) ? await readFile(copy, "utf8") : "";
  const salt = before.split("\n").find((line) => line.startsWith("encryptionsalt:"));
  const text = (await readFile(settings, "utf8")).trimEnd();
  await writeFile(copy, salt === undefined ? `${text}\n` : `${text}\n${salt}\n`);
}

function hasOwnSalt(text: string): boolean {
  // A file that is no YAML is reported by the CLI, with the line.
  try {
    const settings = parse(text) ?? {};
    return "encryptionsalt" in settings || "secretsprovider" in settings;
  } catch {
    return false;
  }
}

function hasOwnPassphrase(): boolean {
  return process.env.PULUMI_CONFIG_PASSPHRASE !== undefined || process.env.PULUMI_CONFIG_PASSPHRASE_FILE !== undefined;
}

async function makePassphrase(): Promise<string> {
  if (existsSync(passphraseFile)) return passphraseFile;
  const temporary = `${passphraseFile}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(temporary, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  // There as a whole or not at all, and never twice: what one run has encrypted another's would not open.
  await link(temporary, passphraseFile).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(temporary);
  return passphraseFile;
}
