// Config values as Pulumi passes them: each as text, lists and maps as JSON.
import { parse } from "yaml";
import type { Fault } from "../base/fault.ts";
import { secretKeys } from "../schema/clusterConfig.ts";
import { hasDefault, isText } from "../schema/schemaWalk.ts";

/** The values for the schema, from those of Pulumi. */
export function decodeConfigValues(values: Record<string, unknown>): Record<string, unknown> {
  const decoded = Object.entries(values).map(([key, value]) => [
    key,
    typeof value === "string" ? (isText(key) ? textual(value) : structured(value)) : value,
  ]);
  return Object.fromEntries(decoded.filter(([key, value]) => !isAbsent(key, value)));
}

/**
 * A secret key must be encrypted, and no other key may be: its value would be in plain text in the state, although its owner expects it to be hidden.
 */
export function secrecyFaults(values: Record<string, unknown>, isEncrypted: (key: string) => boolean): Fault[] {
  return Object.keys(values).flatMap((path) => {
    if (secretKeys.has(path) === isEncrypted(path) || isEmpty(structured(values[path]))) return [];
    const message = secretKeys.has(path)
      ? `is in plain text: encrypt it with 'npm run pulumi -- config set --secret ${path} --stack <environment> < <file>${isText(path) ? "'" : ".yaml', or its secret parts with '--secret --path'"}`
      : "is encrypted, but it would not stay secret: set it in plain text, or move the secret part to secretPatches";
    return [{ path, message }];
  });
}

/** A value that Pulumi passes as text. Text that is neither JSON nor YAML stays as it is; the schema then reports what is expected, without showing a secret. */
export function structured(value: unknown): unknown {
  if (typeof value !== "string") return value;
  for (const read of [JSON.parse, (text: string) => parse(text, { logLevel: "error" })]) {
    try {
      return read(value);
    } catch {
      // Not in this notation. The parser's own message would quote the value.
    }
  }
  return value;
}

/** Where text belongs and a list or a map is given, the schema reports that. */
function textual(value: string): unknown {
  const read = /^[[{]/.test(value) ? structured(value) : value;
  return typeof read === "object" ? read : value;
}

/**
 * If Pulumi.yaml declares a key without a default, the engine itself reports that it is missing, and finds no other fault. So every key has a default there;
 * if the schema has none, an empty value means that the key is absent.
 */
function isAbsent(key: unknown, value: unknown): boolean {
  return value === null || (!hasDefault(String(key)) && isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}
