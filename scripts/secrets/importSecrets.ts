// `npm run secrets -- import <environment>`: from a file into the environment's own, from which the next `up` takes them.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { format } from "../../components/errors/format.ts";
import { otherSecrets } from "../../components/talos/secrets/otherSecrets.ts";
import { bundleText, isBundle, readBundle, type SecretsBundle } from "../../components/talos/secrets/secretsBundle.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { namedFile, writeWhole } from "../base/files.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { temporaryFolder } from "../base/temporary.ts";
import { labEnvironment } from "../lab/environment.ts";
import { exportedWithSecrets } from "../stack/credentials.ts";
import { prepareStack, type Stack } from "../stack/stack.ts";
import { prepareToolchain, type Toolchain, talosPlugin } from "../toolchain/toolchain.ts";
import { decryptWith, isEncrypted } from "./age.ts";
import { identityText } from "./identities.ts";
import { readSource, type Source } from "./sources.ts";
import { secretsIn } from "./stateSecrets.ts";
import { verify } from "./verify.ts";

const key = "machineSecrets";

export interface ImportOptions {
  /** As the user named it; `-` is the standard input. */
  readonly file: string;
  /** The file with the age identity. */
  readonly identity: string | undefined;
  /** The address of a resource in a Terraform state. */
  readonly resource: string | undefined;
}

export async function importSecrets(environment: string, options: ImportOptions): Promise<void> {
  const settings = await settingsFile(environment);
  const { config, hidden } = readClusterConfigFile(settings);
  const { kind, bundle } = await readSecrets(options);
  const toolchain = await prepareToolchain();
  await verify(bundle, config, await talosPlugin());
  const stack = await prepareStack(toolchain, environment, await labEnvironment(environment));
  const deployed = secretsIn(await exportedWithSecrets(toolchain, environment));
  need(environment, deployed, bundle);
  if (deployed === undefined && hidden.includes(key))
    need(environment, await declared(toolchain, stack, settings), bundle);
  await declare(toolchain, stack, settings, bundle);
  const next =
    deployed === undefined
      ? `'npm run up -- ${environment}' imports them`
      : "the state has the same, and nothing will change";
  console.error(`sluice: the machine secrets of ${kind} are in Pulumi.${environment}.yaml, encrypted: ${next}`);
}

/** From any file of the table in docs/secrets.md. */
export async function readSecrets({ file, identity, resource }: ImportOptions): Promise<Source> {
  const bytes = file === "-" ? await buffer(process.stdin) : await readNamed(file);
  const text = isEncrypted(bytes) ? await decryptWith(await needIdentity(identity), bytes) : bytes.toString("utf8");
  return readSource(text, resource);
}

async function needIdentity(named: string | undefined): Promise<string> {
  const text = await identityText(named);
  if (text !== undefined) return text;
  throw new Failure(
    "the file is encrypted with age: name the identity's file with --identity <file> or in SLUICE_AGE_IDENTITY_FILE, or set the identity itself in SLUICE_AGE_IDENTITY.",
  );
}

async function readNamed(file: string): Promise<Buffer> {
  return await readFile(namedFile(file)).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`cannot read ${file}: ${error.code}`);
  });
}

/** Refuses other secrets than those that the environment has. */
function need(environment: string, there: SecretsBundle | undefined, wanted: SecretsBundle): void {
  const refusal = there && otherSecrets(there, wanted);
  if (refusal === undefined) return;
  throw new Failure(format({ ...refusal, subject: `nothing was imported into ${environment}` }));
}

/** Those in the environment's file, which only the engine can decrypt; undefined if they are not complete. */
async function declared(toolchain: Toolchain, stack: Stack, settings: string): Promise<SecretsBundle | undefined> {
  const asked = await run(toolchain.pulumi, ["config", "get", key, "--stack", stack.name, "--config-file", settings], {
    cwd: root,
    env: stack.environment,
  });
  if (asked.code !== 0) throw new Failure(`cannot read ${key} of ${stack.name}:\n${asked.stderr.trim()}`);
  const bundle = readBundle(asked.stdout);
  return isBundle(bundle) ? bundle : undefined;
}

/** In the environment's own file, completely or not at all: the CLI writes a copy of it. */
async function declare(toolchain: Toolchain, stack: Stack, settings: string, bundle: SecretsBundle): Promise<void> {
  const copy = join(temporaryFolder(), `Pulumi.${stack.name}.yaml`);
  await writeWhole(copy, await readFile(settings, "utf8"), 0o600);
  const set = await run(
    toolchain.pulumi,
    ["config", "set", "--secret", key, "--stack", stack.name, "--config-file", copy],
    {
      cwd: root,
      env: stack.environment,
      input: bundleText(bundle),
    },
  );
  if (set.code !== 0) throw new Failure(`cannot encrypt ${key} for ${stack.name}:\n${set.stderr.trim()}`);
  const { mode } = await stat(settings);
  await writeWhole(settings, await readFile(copy, "utf8"), mode & 0o777);
}
