// Where an environment's state, passphrase and settings are.
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { stageCharts } from "../lab/charts.ts";
import { deployedOn } from "../lab/deployedRecord.ts";
import { type LabEnvironment, labEnvironment } from "../lab/environment.ts";
import { addSealingKey } from "../lab/sealingKey.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";
import { settingsFile } from "./environments.ts";
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
  /** The lab that it runs on; undefined where it runs on its platform itself. */
  readonly lab: LabEnvironment | undefined;
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

/** Makes an environment's stack ready for use, on a lab if one is asked for: "" is one of any name. */
export async function prepareStack(toolchain: Toolchain, name: string, askedLab?: string): Promise<Stack> {
  const settings = await settingsFile(name);
  const lab = await labEnvironment(name, askedLab);
  const text = lab?.settings ?? (await readFile(settings, "utf8"));
  const environment = await backendEnvironment(toolchain);
  const isLocal = !process.env.PULUMI_BACKEND_URL;

  const isDerived = lab !== undefined || (isLocal && !hasOwnSalt(text));
  const folder = isDerived ? copiesFolder() : root;
  if (isDerived) await deriveSettings(text.trimEnd(), name, folder);
  if (isLocal && !existsSync(join(stateFolder, ".pulumi", "stacks", "sluice", `${name}.json`))) {
    const made = await run(toolchain.pulumi, ["stack", "init", name, "--no-select", "-C", folder], {
      env: environment,
    });
    if (made.code !== 0) throw new Failure(`cannot make the stack ${name}:\n${made.stderr.trim()}`);
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

/** An environment that is put on a lab has its state there. One that is on its own platform has it of that, and must not lose it. */
async function needNotElsewhere(toolchain: Toolchain, stack: Stack): Promise<void> {
  if ((await deployedOn(stack.name)) !== undefined) return;
  const exported = await run(toolchain.pulumi, ["stack", "export", "--stack", stack.name], {
    cwd: root,
    env: stack.environment,
  });
  if (exported.code !== 0) throw new Failure(`the state of ${stack.name} cannot be read:\n${exported.stderr.trim()}`);
  if ((JSON.parse(exported.stdout).deployment?.resources ?? []).length === 0) return;
  throw new Failure(
    `${stack.name} is deployed on its own platform, and on a lab would be taken for lost there: copy Pulumi.${stack.name}.yaml to an environment of another name, and put that on the lab.`,
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
 * Refuses, before the engine runs, what the engine would find late or say too much about. The check is loaded where
 * there is something to check: that takes a quarter of a second.
 */
export async function checkStack(toolchain: Toolchain, stack: Stack): Promise<void> {
  const text = await readFile(await settingsFile(stack.name), "utf8");
  if (!/sluice:(secretP|p)atches\b/.test(text)) return;
  const { checkStackPatches } = await import("../render/patches.ts");
  await checkStackPatches(toolchain, stack);
}

/**
 * The CLI writes the salt of the passphrase into the stack's settings. An environment that has none there yet, as the
 * worked ones, keeps it in a copy, so that a clone stays clean; one that holds encrypted values brings its own.
 */
async function deriveSettings(text: string, name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await copyFile(join(root, "Pulumi.yaml"), join(folder, "Pulumi.yaml"));
  const copy = join(folder, `Pulumi.${name}.yaml`);
  const before = existsSync(copy) ? await readFile(copy, "utf8") : "";
  const salt = before.split("\n").find((line) => line.startsWith("encryptionsalt:"));
  const isWhole = salt === undefined || hasOwnSalt(text);
  await writeFile(copy, isWhole ? `${text}\n` : `${text}\n${salt}\n`);
}

/** Another backend has another passphrase, and so another salt. */
function copiesFolder(): string {
  const backend = process.env.PULUMI_BACKEND_URL;
  if (!backend) return settingsFolder;
  return join(settingsFolder, createHash("sha256").update(backend).digest("hex").slice(0, 16));
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
