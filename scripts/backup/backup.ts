// `npm run backup`: backups of a cluster, with the credentials in its state.
import type { TargetPlace } from "../../components/backup/openTarget.ts";
import { bundleText, clusterIdentifier } from "../../components/talos/secrets/secretsBundle.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { root } from "../base/paths.ts";
import { run } from "../base/run.ts";
import { temporaryFolder } from "../base/temporary.ts";
import { deployedNodes } from "../inspect/deployed.ts";
import { runInside } from "../inspect/inLab.ts";
import { labEnvironment } from "../lab/environment.ts";
import { secretsIn } from "../secrets/stateSecrets.ts";
import { exportedWithSecrets } from "../stack/credentials.ts";
import { prepareStack, type Stack } from "../stack/stack.ts";
import { prepareToolchain, type Toolchain } from "../toolchain/toolchain.ts";
import type { BackupCall } from "./backupInside.ts";
import { listLines, takenLines, verifiedLines } from "./backupWords.ts";

/** An hour: a snapshot may have gigabytes, and the way to the object store may be slow. */
const timeoutMs = 3_600_000;

export interface BackupOptions {
  /** A folder in place of the environment's target. */
  readonly to?: string | undefined;
}

export async function takeNow(environment: string, options: BackupOptions): Promise<void> {
  const place = await openPlace(environment, options);
  const { config, toolchain } = place;
  if (config.ageRecipients.length === 0) {
    throw new Failure(
      `${environment} has no age public key to encrypt for: set ageRecipients in Pulumi.${environment}.yaml. 'age-keygen -o key.txt' makes a pair.`,
    );
  }
  const exported = await exportedWithSecrets(toolchain, environment);
  const [nodes, bundle] = [deployedNodes(exported), secretsIn(exported)];
  if (nodes.length === 0 || bundle === undefined) {
    throw new Failure(`${environment} has no cluster yet: 'npm run up -- ${environment}' deploys it.`);
  }
  const { clusterName: name, talosVersion, kubernetesVersion } = config;
  const taken = await asked(place, {
    action: "take",
    nodes: nodes.map(({ name, role, address, talosAddress, credentials }) => {
      return { name, role, address, talosAddress, credentials };
    }),
    cluster: { name, id: clusterIdentifier(bundle), talosVersion, kubernetesVersion },
    machineSecrets: bundleText(bundle),
    recipients: config.ageRecipients,
    keep: config.backup.keep,
    reason: "on request",
    temporary: temporaryFolder(),
  });
  print(takenLines(taken as Parameters<typeof takenLines>[0]));
}

export async function listAll(environment: string, options: BackupOptions): Promise<void> {
  const listed = await asked(await openPlace(environment, options), { action: "list" });
  print(listLines(environment, listed as Parameters<typeof listLines>[1], Date.now()));
}

export async function verifyOne(
  environment: string,
  name: string,
  options: BackupOptions & { readonly identities: readonly string[] | undefined },
): Promise<void> {
  const { identities } = options;
  const verified = await asked(await openPlace(environment, options), { action: "verify", name, identities });
  print(verifiedLines(verified as Parameters<typeof verifiedLines>[0]));
}

/** Where the backups of an environment are, and from where that is reached. */
interface Place {
  readonly toolchain: Toolchain;
  readonly stack: Stack;
  readonly config: ClusterConfig;
  readonly target: TargetPlace;
}

async function openPlace(environment: string, { to }: BackupOptions): Promise<Place> {
  const file = await settingsFile(environment);
  const toolchain = await prepareToolchain();
  const lab = await labEnvironment(environment);
  const { config, hidden } = readClusterConfigFile(file, lab?.settings);
  const { clusterName, backup } = config;
  const stack = await prepareStack(toolchain, environment, lab);
  if (to !== undefined) return { toolchain, stack, config, target: { clusterName, folder: to, credentials: {} } };
  if (backup.folder === undefined && backup.s3 === undefined) {
    throw new Failure(
      `${environment} has no target for backups: set backup.folder or backup.s3 in Pulumi.${environment}.yaml, or name a folder with --to <folder>.`,
    );
  }
  const secret = async (key: string) => (hidden.includes(key) ? await decrypted(toolchain, stack, key) : undefined);
  const [accessKey, secretKey] = [await secret("backupS3AccessKey"), await secret("backupS3SecretKey")];
  const credentials = { ...(accessKey !== undefined && { accessKey }), ...(secretKey !== undefined && { secretKey }) };
  return { toolchain, stack, config, target: { clusterName, ...backup, credentials } };
}

/** A value of the environment's file, which only the CLI can decrypt. */
async function decrypted(toolchain: Toolchain, stack: Stack, key: string): Promise<string> {
  const said = await run(toolchain.pulumi, ["config", "get", key, ...stack.options], {
    cwd: root,
    env: stack.environment,
  });
  if (said.code === 0) return said.stdout.replace(/\n$/, "");
  throw new Failure(`cannot read ${key} of ${stack.name}:\n${said.stderr.trim()}`);
}

type Question<Call> = Call extends unknown ? Omit<Call, "place"> : never;

async function asked({ toolchain, stack, target }: Place, question: Question<BackupCall>): Promise<unknown> {
  const input = { place: target, ...question };
  const onText = (text: string) => void (/^sluice: /.test(text) && process.stderr.write(text));
  const { name, lab } = stack;
  const ended = await runInside({ toolchain, name, lab }, "backup/backupInside.ts", input, { timeoutMs, onText });
  if (ended.code === 0) return JSON.parse(ended.stdout);
  const words = ended.stderr.split("\n").filter((line) => !line.startsWith("sluice: "));
  throw new Failure(words.join("\n").trim());
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}
