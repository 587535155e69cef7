// `npm run secrets -- export <environment>`
import { join } from "node:path";
import { count } from "../../components/model/count.ts";
import { bundleText } from "../../components/talos/secrets/secretsBundle.ts";
import { readClusterConfigFile } from "../../stacks/config/configFile.ts";
import { settingsFile } from "../base/environments.ts";
import { Failure } from "../base/fail.ts";
import { namedFile, writeWhole } from "../base/files.ts";
import { workFolder } from "../base/paths.ts";
import { exportedWithSecrets } from "../stack/credentials.ts";
import { prepareToolchain } from "../toolchain/toolchain.ts";
import { encryptFor } from "./age.ts";
import { secretsIn } from "./stateSecrets.ts";

export interface ExportOptions {
  readonly plain: boolean;
  /** Age public keys in place of the environment's. */
  readonly recipients: readonly string[];
  /** As the user named it; `-` is the standard output. */
  readonly file: string | undefined;
}

export async function exportSecrets(environment: string, { plain, recipients, file }: ExportOptions): Promise<void> {
  if (plain && recipients.length > 0) throw new Failure("--plain and --recipient contradict each other.");
  if (plain && file === "-" && process.stdout.isTTY) {
    throw new Failure("machine secrets in plain text are not printed on a terminal: name a file with --file <file>.");
  }
  const settings = await settingsFile(environment);
  const all = plain || recipients.length > 0 ? recipients : readClusterConfigFile(settings).config.ageRecipients;
  if (!plain && all.length === 0) {
    throw new Failure(
      `${environment} has no age public key to encrypt for: set ageRecipients in Pulumi.${environment}.yaml, or name one with --recipient <key>. ` +
        "'age-keygen -o key.txt' makes a pair. For plain text: --plain.",
    );
  }
  const bundle = secretsIn(await exportedWithSecrets(await prepareToolchain(), environment));
  if (bundle === undefined) {
    throw new Failure(
      `${environment} has no machine secrets yet: the first 'npm run up -- ${environment}' creates them.`,
    );
  }
  const text = bundleText(bundle);
  const content = plain ? text : await encryptFor(all, text);
  if (file === "-") {
    process.stdout.write(content);
    return;
  }
  const path =
    file === undefined ? join(workFolder, `${environment}.secrets.yaml${plain ? "" : ".age"}`) : namedFile(file);
  await writeWhole(path, content, 0o600);
  console.log(path);
  console.error(
    plain
      ? "sluice: in plain text: whoever can read this file controls the cluster"
      : `sluice: encrypted for ${count(all.length, "age public key")}; only their identities can decrypt it`,
  );
}
