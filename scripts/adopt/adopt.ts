// `npm run adopt -- <environment>`: compares a running cluster with an environment, and takes it into the state as it is. docs/decisions/adoption.md
import { text } from "../../components/model/untyped.ts";
import { isBundle, readBundle, type SecretsBundle } from "../../components/talos/secrets/secretsBundle.ts";
import { existing } from "../../stacks/platforms/existing.ts";
import type { FoundPlatform } from "../../stacks/platforms/foundMachines.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { reporting } from "../base/reporting.ts";
import { runInside } from "../inspect/inLab.ts";
import { recordDeployed } from "../lab/deploymentRecord.ts";
import { labEnvironment } from "../lab/environment.ts";
import { runningLab } from "../lab/labProcess.ts";
import { tokenIn } from "../orphans/settleOrphans.ts";
import { exportedWithSecrets } from "../stack/credentials.ts";
import { decryptedConfig } from "../stack/decryptedConfig.ts";
import { resourcesIn } from "../stack/exported.ts";
import { prepareStack, type Stack } from "../stack/stack.ts";
import { prepareToolchain, type Toolchain } from "../toolchain/toolchain.ts";
import { compareCluster } from "./compareCluster.ts";
import type { FindCall } from "./findInside.ts";
import type { PlannedChanges } from "./plannedChanges.ts";
import { recordCluster } from "./recordCluster.ts";
import { isClean, platformReport, reportOf } from "./report.ts";

export interface AdoptOptions {
  /** Adopts the cluster although an `up` would change something: the next one does. */
  readonly accepts: boolean;
  /** Names or ids of machines by node name. */
  readonly chosen: Readonly<Record<string, string>>;
}

export const exitCodes = { adopted: 0, failed: 1, differs: 2 } as const;

export async function adopt(environment: string, { accepts, chosen }: AdoptOptions): Promise<number> {
  await settingsFile(environment); // lists the environments where it is missing
  const lab = await labEnvironment(environment);
  const toolchain = await prepareToolchain();
  const stack = await prepareStack(toolchain, environment, lab);
  const config = await decryptedConfig(toolchain, stack);
  const bundle = declaredSecrets(environment, config);
  await needNoRun(toolchain, environment);
  const platform = await findPlatform(toolchain, stack, config, chosen);
  const comparison = await reporting("comparing the cluster with the environment", () =>
    compareCluster(toolchain, stack, { config, bundle, platform }),
  );
  print(reportOf(environment, comparison, { accepts }));
  const { faults, releases } = comparison;
  if (faults.length > 0 || !(isClean(comparison) || accepts)) return exitCodes.differs;
  const found = { machines: platform.machines, resources: [...platform.resources, ...releases.adopted] };
  const isKept = (changes: PlannedChanges) =>
    changes.faults.length === 0 && (accepts || changes.differences.length === 0);
  const changes = await recordCluster(toolchain, stack, found, config.platform.adoption?.planned, isKept);
  print(platformReport(config.platform.title, changes, { accepts }));
  if (!isKept(changes)) return exitCodes.differs;
  await rememberLab(stack);
  console.log(`\n${environment} is adopted. What the next 'up' does: npm run preview -- ${environment}`);
  return exitCodes.adopted;
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}

/** Without them no node would answer, and an `up` would generate others. */
function declaredSecrets(environment: string, { machineSecrets }: ClusterConfig): SecretsBundle {
  const bundle = machineSecrets === undefined ? undefined : readBundle(machineSecrets);
  if (bundle !== undefined && isBundle(bundle)) return bundle;
  throw new Failure(
    `${environment} has no machine secrets, and without those of the cluster nothing is done: npm run secrets -- import ${environment} --file <file>`,
  );
}

/** An adoption that was interrupted is repeated, as long as no `up` has run. */
async function needNoRun(toolchain: Toolchain, environment: string): Promise<void> {
  const gates = resourcesIn(await exportedWithSecrets(toolchain, environment)).filter(({ type }) =>
    text(type).startsWith("pulumi-nodejs:dynamic/gates:"),
  );
  if (gates.length === 0) return;
  throw new Failure(
    `${environment} is deployed already, and needs no adoption: 'npm run up -- ${environment}' manages it.`,
  );
}

/** Each call has its own deadline, and a lab's platform is asked by a process that starts slowly on a busy machine. */
const findTimeoutMs = 60_000;

async function findPlatform(
  toolchain: Toolchain,
  stack: Stack,
  config: ClusterConfig,
  chosen: AdoptOptions["chosen"],
): Promise<FoundPlatform> {
  const { platform, nodes } = config;
  if (platform.adoption === undefined) {
    throw new Failure(
      `machines on ${platform.title} are not taken over: adopt the cluster as platform ${existing.name}, and they stay with what made them.`,
    );
  }
  const stray = Object.keys(chosen).find((name) => !nodes.some((node) => node.name === name));
  if (stray !== undefined) throw new Failure(`--machine ${stray}=...: the environment has no node ${stray}.`);
  const { name, lab } = stack;
  const account = platform.account?.token;
  const token = account === undefined || lab !== undefined ? undefined : await tokenIn(toolchain, stack, account.key);
  const input: FindCall = {
    chosen,
    file: await settingsFile(name),
    settings: lab?.settings,
    token,
    variable: account?.variable,
  };
  const ended = await runInside({ toolchain, name, lab }, "adopt/findInside.ts", input, { timeoutMs: findTimeoutMs });
  if (ended.code === 0) return JSON.parse(ended.stdout);
  throw new Failure(`the machines of ${name} cannot be found: ${ended.stderr.trim() || "no answer"}`);
}

/** Otherwise the next `up` would treat the cluster as one of a lab that has ended. */
async function rememberLab({ name, lab: on }: Stack): Promise<void> {
  const running = on && (await runningLab(on.lab));
  if (on !== undefined && running !== undefined) await recordDeployed(name, { lab: on.lab, life: running.life });
}
