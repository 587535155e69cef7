// Keys of providers in an environment's file, such as hcloud:token. Sluice reads few of them, but any secret among them must be encrypted, like its own
// secrets.
import { isMapping } from "../../components/model/untyped.ts";
import type { Fault } from "../base/fault.ts";
import { allPlatforms } from "../platforms/registry.ts";
import { yamlPath } from "../schema/yamlPath.ts";
import { structured } from "./configValues.ts";

/** Names of keys with a secret, in any provider. */
const secretName =
  /(token|passwords?|passwd|passphrase|secret|otp|auth_?ticket|credentials?|kubeconfig|(private|api|secret|access|auth|account|application|consumer|encryption|ssh)_?key)$/i;

/** Whether a key of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** Secrets of providers that are in plain text. The keys of `values` are as in the file. */
export function providerSecretFaults(
  values: Readonly<Record<string, unknown>>,
  isEncrypted: (key: string) => boolean,
): readonly Fault[] {
  return Object.entries(values).flatMap(([key, value]) =>
    isEncrypted(key)
      ? []
      : plainSecrets(key, [], isSecretName(key) ? value : structured(value)).map((path) => fault(key, path)),
  );
}

/** The message for an unknown key that looks like an account's secret: it names the right place. */
export function accountSecretHint(name: string, platform: unknown): string | undefined {
  const { account } = allPlatforms.find((one) => one.name === platform) ?? {};
  if (account === undefined || !isSecretName(name)) return undefined;
  const { key, variable } = account.token;
  return `unknown key; the token of the account is encrypted in the provider's own key ('${setCommand(key)}') or in ${variable}. Remove it here, and renew it if others could read the file`;
}

/** The paths, below a key, of plain-text values where a secret belongs. */
function plainSecrets(name: string, path: readonly PropertyKey[], value: unknown): readonly (readonly PropertyKey[])[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => plainSecrets(name, [...path, index], one));
  if (isMapping(value)) {
    return Object.entries(value).flatMap(([key, inner]) =>
      key === "secure" ? [] : plainSecrets(key, [...path, key], inner),
    );
  }
  return isSecretName(name) && isSecretText(name, value) ? [path] : [];
}

/** A value that may also be the path of a file is treated as a path if it is a single line; booleans and empty values are no secrets. */
function isSecretText(name: string, value: unknown): boolean {
  if (typeof value === "number") return true;
  if (typeof value !== "string" || value === "") return false;
  return !/(kubeconfig|credentials?)$/i.test(name) || /[\n{]/.test(value);
}

function fault(key: string, path: readonly PropertyKey[]): Fault {
  const below = yamlPath(path);
  const full = below === "" || below.startsWith("[") ? `${key}${below}` : `${key}.${below}`;
  const command = path.length === 0 ? setCommand(key) : setCommand(`--path '${full}'`);
  return {
    path: full,
    message: `is in plain text: encrypt it with ${quoted(command)}, and renew it if others could read the file`,
  };
}

function setCommand(key: string): string {
  return `npm run pulumi -- config set --secret ${key} --stack <environment>`;
}

/** If the command contains one kind of quotes, it is put between the other kind. */
function quoted(command: string): string {
  return command.includes("'") ? `\`${command}\`` : `'${command}'`;
}
