// Config values as Pulumi hands them over: every one a text, lists and maps as JSON.
import { parse } from "yaml";
import type { Fault } from "./fault.ts";
import { secretKeys } from "./schema.ts";
import { hasDefault, isText } from "./schemaWalk.ts";

/** The project's name in Pulumi.yaml: every key of ours stands behind it, as in `sluice:nodes`. */
export const projectName = "sluice";

/** What the schema reads, out of what Pulumi hands over. */
export function decodeConfigValues(values: Record<string, unknown>): Record<string, unknown> {
  const decoded = Object.entries(values).map(([key, value]) => [
    key,
    typeof value === "string" && !isText(key) ? structured(value) : value,
  ]);
  return Object.fromEntries(decoded.filter(([key, value]) => !isAbsent(key, value)));
}

/**
 * Secrets are kept where they are asked for and nowhere else: a secret key must be encrypted, and no other key may be,
 * because its value would stand in plain text in the state while its owner believes it hidden.
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

/** Text stays as it is where it is neither JSON nor YAML; the schema then says what is expected, and shows no secret in doing so. */
function structured(value: unknown): unknown {
  if (typeof value !== "string") return value;
  for (const read of [JSON.parse, (text: string) => parse(text, { logLevel: "error" })]) {
    try {
      return read(value);
    } catch {
      // Not in this notation. The parser's own words would quote the value.
    }
  }
  return value;
}

/**
 * Of a key that Pulumi.yaml declares without a default, the engine itself says that it is missing, and none of the other
 * faults is found. So every key has a default there, and where the schema has none, an empty value says absent.
 */
function isAbsent(key: unknown, value: unknown): boolean {
  return value === null || (!hasDefault(String(key)) && isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}
