import { secretsMissing } from "../../components/backup/restoreJudgement.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { newClusterOption } from "../newCluster/newCluster.ts";
import { secretsIn } from "../secrets/stateSecrets.ts";
import { exportedWithSecrets } from "../stack/credentials.ts";
import type { Stack } from "../stack/stack.ts";
import type { Toolchain } from "../toolchain/toolchain.ts";

/** Refuses a restore that an `up` with these options cannot mean, or not do. */
export async function checkRestore(
  toolchain: Toolchain,
  { name, lab }: Stack,
  options: readonly string[],
): Promise<void> {
  const { config, hidden } = readClusterConfigFile(await settingsFile(name), lab?.settings);
  const { restoreFrom, machineSecrets } = config;
  if (restoreFrom === undefined) return;
  if (options.includes(newClusterOption)) throw new Failure(contradiction(restoreFrom));
  // The engine would generate others first. Its own preview refuses that too, but may be skipped.
  if (machineSecrets !== undefined || hidden.includes("machineSecrets")) return;
  if (secretsIn(await exportedWithSecrets(toolchain, name)) === undefined) throw new Failure(secretsMissing().message);
}

function contradiction(restoreFrom: string): string {
  return `${newClusterOption} begins an empty cluster, and restoreFrom (${restoreFrom}) begins one from a backup: run \`up\` without the option, or remove restoreFrom. Nothing was changed`;
}
