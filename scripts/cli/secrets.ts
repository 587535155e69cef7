// `npm run secrets -- export|import <environment>`: a cluster's machine secrets, in Talos' own format.
import { readOptions } from "../base/commandLine.ts";
import { environmentList } from "../base/environments.ts";
import { Failure, main } from "../base/fail.ts";

const usage = `npm run secrets -- export <environment> [--file <file>] [--recipient <key>] [--plain]
npm run secrets -- import <environment> --file <file> [--identity <file>] [--resource <address>]

Exports the machine secrets of an environment as Talos' secrets.yaml, encrypted with age for the ageRecipients of the environment. Imports them into an
environment that has none: from such a file, encrypted or not, from the machine config of a control plane, or from the state of Terraform or Pulumi.

  --file <file>        which file. '-' is the standard output or input. An export without it is .work/<environment>.secrets.yaml.age
  --recipient <key>    an age public key to encrypt for, in place of ageRecipients; may be repeated
  --plain              export in plain text
  --identity <file>    the age identity that decrypts the file; or SLUICE_AGE_IDENTITY_FILE, or SLUICE_AGE_IDENTITY for the identity itself
  --resource <address> which talos_machine_secrets of a Terraform state that has several`;

const options = {
  file: { type: "string" },
  recipient: { type: "string", multiple: true },
  plain: { type: "boolean" },
  identity: { type: "string" },
  resource: { type: "string" },
} as const;

await main(async () => {
  const call = readOptions(usage, options, { allowPositionals: true });
  if (call === undefined) return 0;
  const [action, environment, ...more] = call.positionals;
  const { file, recipient = [], plain = false, identity, resource } = call.values;
  if (action !== "export" && action !== "import") throw new Failure(`missing 'export' or 'import'.\n${usage}`);
  if (environment === undefined || more.length > 0) {
    throw new Failure(`name one environment: ${await environmentList()}.\n${usage}`);
  }
  if (action === "export") {
    needNone(action, { identity, resource });
    const { exportSecrets } = await import("../secrets/exportSecrets.ts");
    await exportSecrets(environment, { plain, recipients: recipient, file });
    return 0;
  }
  needNone(action, { plain: plain || undefined, recipient: call.values.recipient });
  if (file === undefined)
    throw new Failure(`name the file to import with --file <file>, or '-' for the standard input.`);
  const { importSecrets } = await import("../secrets/importSecrets.ts");
  await importSecrets(environment, { file, identity, resource });
  return 0;
});

function needNone(action: string, values: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(values).filter((name) => values[name] !== undefined);
  if (given.length > 0) throw new Failure(`${action} does not take --${given.join(", --")}.`);
}
