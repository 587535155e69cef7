// Reads the raw values by the schema and says in plain words what does not fit.
import type { z } from "zod";
import type { Fault } from "./fault.ts";
import { type ClusterConfig, clusterConfigSchema, secretKeys } from "./schema.ts";
import { knownKeys } from "./schemaWalk.ts";
import { didYouMean } from "./suggest.ts";
import { yamlPath } from "./yamlPath.ts";

/** What could be read, and what could not. */
export interface Shape {
  readonly config: Partial<ClusterConfig>;
  readonly faults: Fault[];
}

/** Reads every top-level key on its own, so that a fault in one leaves the others there for the rules. */
export function readShape(raw: Record<string, unknown>): Shape {
  const known = Object.keys(clusterConfigSchema.shape);
  const faults = Object.keys(raw)
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey([], key, known));
  const config: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(clusterConfigSchema.shape)) {
    const value = key === raw.platform ? (raw[key] ?? {}) : raw[key]; // the platform's own section may rest on its defaults
    const result = schema.safeParse(value, { error: mustBe, reportInput: true });
    if (result.success) config[key] = result.data;
    else faults.push(...result.error.issues.flatMap((issue) => issueFaults(issue, [key, ...issue.path])));
  }
  return { config, faults };
}

function issueFaults(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): Fault[] {
  const isSecret = secretKeys.has(String(path[0]));
  if (issue.code === "unrecognized_keys") {
    // A key that is out of place may be a secret itself, for example after a slip of indentation.
    if (isSecret) {
      return [{ path: yamlPath(path), message: `has an unknown key; known here: ${knownKeys(path).join(", ")}` }];
    }
    return issue.keys.map((key) => unknownKey(path, key, knownKeys(path)));
  }
  if (issue.input === undefined) return [{ path: yamlPath(path), message: `is missing, ${issue.message}` }];
  const got = isSecret ? "the value is secret and not shown" : `got ${shown(issue.input)}`;
  const meant =
    issue.code === "invalid_value" && typeof issue.input === "string" && !isSecret
      ? didYouMean(issue.input, issue.values.map(String))
      : "";
  return [{ path: yamlPath(path), message: `${issue.message}, ${got}${meant}` }];
}

function unknownKey(parent: readonly PropertyKey[], key: string, known: readonly string[]): Fault {
  const hint = didYouMean(key, known) || `; known here: ${known.join(", ")}`;
  return { path: yamlPath([...parent, key]), message: `unknown key${hint}` };
}

/** What is expected, where the schema itself gives no words. Reads on after the path: "nodes[0].name: must be …". */
function mustBe(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeWords[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${anyOf.format(issue.values.map((value) => `'${String(value)}'`))}`;
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? "must not be empty"
        : `must be ${issue.minimum} or more`;
    case "too_big":
      return `must be ${issue.maximum} or less`;
    default:
      return undefined;
  }
}

const anyOf = new Intl.ListFormat("en-GB", { type: "disjunction" });

const typeWords: Record<string, string> = {
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "a map",
  record: "a map",
};

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (value === null) return "nothing";
  if (typeof value === "object") return Object.keys(value).length === 0 ? "an empty map" : "a map";
  // Who is to ask at a URL may stand in it with a password.
  const text = JSON.stringify(value).replace(/:\/\/[^/@\s]*@/g, "://***@");
  return text.length > 80 ? `${text.slice(0, 77)}..."` : text;
}
