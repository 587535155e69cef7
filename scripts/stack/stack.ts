// Where an environment's state, passphrase and settings are.
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { root, workFolder } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { stageCharts } from "../lab/charts.ts";
import { deployedOn } from "../lab/deploymentRecord.ts";
import type { LabEnvironment } from "../lab/environment.ts";
import { addSealingKey } from "../lab/sealingKey.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { resourcesIn } from "./exported.ts";
import { isLocked, repairState, stacksIn, withoutSidecars } from "./repairState.ts";

export interface Stack {
  readonly name: string;
  /** The environment variables for a call of the CLI. */
  readonly environment: NodeJS.ProcessEnv;
  /** Options that select the stack and its settings. */
  readonly options: readonly string[];
  /** Where state and passphrase are; undefined with the user's own backend. */
  readonly local: { readonly state: string; readonly passphrase: string } | undefined;
  /** The lab that it runs on; undefined if it runs on its platform itself. */
  readonly lab: LabEnvironment | undefined;
}

const stateFolder = join(workFolder, "state");
const ownBackend = `file://${stateFolder}?${withoutSidecars}`;
const passphraseFile = join(workFolder, "passphrase");
const settingsFolder = join(workFolder, "settings");

/** The folder of a backend that keeps files; undefined for others. */
export function localFolder({ PULUMI_BACKEND_URL: url = "" }: NodeJS.ProcessEnv): string | undefined {
  const path = /^file:\/\/([^?]*)/.exec(url)?.[1];
  if (path === undefined) return undefined;
  return path.startsWith("~") ? join(homedir(), path.slice(1)) : resolve(root, path);
}

/** The folder with the states, if the backend keeps them in files. */
export function stateFolderOf(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment.PULUMI_BACKEND_URL ? localFolder(environment) : stateFolder;
}

/** The CLI's environment: the user's own backend if PULUMI_BACKEND_URL names one, else files in the checkout. */
export async function backendEnvironment(toolchain: Toolchain): Promise<NodeJS.ProcessEnv> {
  if (process.env.PULUMI_BACKEND_URL) {
    const folder = localFolder(process.env);
    if (folder !== undefined) await repairState(folder, process.env.PULUMI_BACKEND_URL);
    return toolchain.environment;
  }
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  await repairState(stateFolder, ownBackend);
  return {
    ...toolchain.environment,
    PULUMI_BACKEND_URL: ownBackend,
    // By file, so that it is in no process list and no environment variable.
    ...(hasOwnPassphrase() ? {} : { PULUMI_CONFIG_PASSPHRASE_FILE: await makePassphrase() }),
  };
}

/** Makes an environment's stack ready for use, on the lab that it runs on. */
export async function prepareStack(
  toolchain: Toolchain,
  name: string,
  lab: LabEnvironment | undefined,
): Promise<Stack> {
  const settings = await settingsFile(name);
  const text = lab?.settings ?? (await readFile(settings, "utf8"));
  const environment = await backendEnvironment(toolchain);
  const isLocal = !process.env.PULUMI_BACKEND_URL;

  const isDerived = lab !== undefined || (isLocal && !hasOwnSalt(text));
  const folder = isDerived ? copiesFolder() : root;
  if (isDerived) await deriveSettings(text.trimEnd(), name, folder);
  const hasState = existsSync(join(stateFolder, ".pulumi", "stacks", "sluice", `${name}.json`));
  if (isLocal && !hasState && !(await isLocked({ folder: stateFolder, backend: ownBackend }, name))) {
    const made = await run(toolchain.pulumi, ["stack", "init", name, "--no-select", "-C", folder], {
      env: environment,
    });
    if (made.code !== 0) throw new Failure(`cannot create the stack ${name}:\n${made.stderr.trim()}`);
  }
  const copy = join(folder, `Pulumi.${name}.yaml`);
  const stack = {
    name,
    environment,
    options: ["--stack", name, ...(isDerived ? ["--config-file", copy] : [])],
    local: isLocal ? { state: stateFolder, passphrase: passphraseFile } : undefined,
    lab,
  };
  if (lab?.settings !== undefined) await needNotElsewhere(toolchain, stack);
  if (lab?.hasLabCharts) await stageCharts();
  if (lab?.lacksSealingKey) await addSealingKey(copy, (key, value) => encrypt(toolchain, stack, key, value));
  return stack;
}

/** The state of an environment that is deployed on its own platform must not be used on a lab, where all of it would be missing. */
async function needNotElsewhere(toolchain: Toolchain, stack: Stack): Promise<void> {
  if ((await deployedOn(stack.name)) !== undefined) return;
  const exported = await run(toolchain.pulumi, ["stack", "export", "--stack", stack.name], {
    cwd: root,
    env: stack.environment,
  });
  if (exported.code !== 0) throw new Failure(`cannot read the state of ${stack.name}:\n${exported.stderr.trim()}`);
  if (resourcesIn(JSON.parse(exported.stdout)).length === 0) return;
  throw new Failure(
    `${stack.name} is deployed on its own platform, and on a lab its state would treat that as lost: copy Pulumi.${stack.name}.yaml to another name, and put that environment on the lab. Or, if nobody needs what is deployed, even if that is secrets alone: npm run destroy -- ${stack.name}`,
  );
}

async function encrypt(toolchain: Toolchain, stack: Stack, key: string, value: string): Promise<void> {
  const set = await run(toolchain.pulumi, ["config", "set", "--secret", key, ...stack.options], {
    cwd: root,
    env: stack.environment,
    input: value,
  });
  if (set.code !== 0) throw new Failure(`cannot set ${key} for ${stack.name}:\n${set.stderr.trim()}`);
}

/**
 * The CLI writes the passphrase's salt into the stack's settings. For an environment without a salt in its file these are a copy, so that the checkout stays
 * clean; an environment with encrypted values has its own salt.
 */
async function deriveSettings(text: string, name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await copyFile(join(root, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
  const copy = join(folder, `Pulumi.${name}.yaml`);
  const before = existsSync(copy) ? await readFile(copy, "utf8") : "";
  const salt = before.split("\n").find((line) => line.startsWith("encryptionsalt:"));
  const isComplete = salt === undefined || hasOwnSalt(text);
  await writeFile(copy, isComplete ? `${text}\n` : `${text}\n${salt}\n`);
}

/** Another backend has another passphrase, and so another salt. */
function copiesFolder(): string {
  const backend = process.env.PULUMI_BACKEND_URL;
  if (!backend) return settingsFolder;
  return join(settingsFolder, createHash("sha256").update(backend).digest("hex").slice(0, 16));
}

function hasOwnSalt(text: string): boolean {
  const settings = parse(text) ?? {};
  return "encryptionsalt" in settings || "secretsprovider" in settings;
}

function hasOwnPassphrase(): boolean {
  return process.env.PULUMI_CONFIG_PASSPHRASE !== undefined || process.env.PULUMI_CONFIG_PASSPHRASE_FILE !== undefined;
}

async function makePassphrase(): Promise<string> {
  if (existsSync(passphraseFile)) return passphraseFile;
  const encrypted = await stacksIn(stateFolder);
  if (encrypted.length > 0) {
    throw new Failure(
      `${passphraseFile} is missing, and the state of ${encrypted.join(", ")} is encrypted with it: restore it from a copy, or name one in PULUMI_CONFIG_PASSPHRASE_FILE. Without it the secrets in the state are lost; if nothing is deployed from here, begin again with: rm -r ${stateFolder} ${settingsFolder}`,
    );
  }
  const temporary = `${passphraseFile}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(temporary, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  // Completely or not at all, and only once: what one run has encrypted could not be decrypted with another passphrase.
  await link(temporary, passphraseFile).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(temporary);
  return passphraseFile;
}
