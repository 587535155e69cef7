// Reads the raw values by the schema and reports in plain words what does not match it.
import type { z } from "zod";
import { didYouMean } from "../../components/model/suggest.ts";
import type { Fault } from "../base/fault.ts";
import { type ClusterConfig, clusterConfigSchema, secretKeys } from "../schema/clusterConfig.ts";
import { knownKeys } from "../schema/schemaWalk.ts";
import { yamlPath } from "../schema/yamlPath.ts";
import { expectation, hintFor, mustBe, shown } from "./faultWords.ts";
import { fixedKeyMessage } from "./fixedKeys.ts";
import { accountSecretHint } from "./providerSecrets.ts";

/** What could be read, and the faults of the rest. */
export interface Shape {
  readonly config: Partial<ClusterConfig>;
  readonly faults: Fault[];
}

/** Reads every top-level key separately, so that rules still run on the others when one has a fault. */
export function readShape(raw: Record<string, unknown>): Shape {
  const known = Object.keys(clusterConfigSchema.shape);
  const faults = Object.keys(raw)
    .filter((key) => !known.includes(key))
    .map((key) => unknownKey([], key, known, raw.platform));
  const config: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(clusterConfigSchema.shape)) {
    const value = key === raw.platform ? (raw[key] ?? {}) : raw[key]; // the platform's own section may consist of defaults
    const result = schema.safeParse(value, { error: mustBe, reportInput: true });
    if (result.success) config[key] = result.data;
    else faults.push(...result.error.issues.flatMap((issue) => issueFaults(issue, [key, ...issue.path])));
  }
  const { platform } = config as Partial<ClusterConfig>;
  if (platform !== undefined && platform.name in config) config.settings = config[platform.name];
  return { config, faults };
}

function issueFaults(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): Fault[] {
  const isSecret = secretKeys.has(String(path[0]));
  if (issue.code === "unrecognized_keys") {
    // A misplaced key may be a secret itself, for example after an indentation error.
    if (isSecret) {
      return [{ path: yamlPath(path), message: `has an unknown key; known here: ${knownKeys(path).join(", ")}` }];
    }
    return issue.keys.map((key) => unknownKey(path, key, knownKeys(path)));
  }
  if (issue.input === undefined) return [{ path: yamlPath(path), message: `is missing, ${expectation(issue, path)}` }];
  const wanted = expectation(issue, path);
  if (isSecret) return [{ path: yamlPath(path), message: `${wanted}, the value is secret and not shown` }];
  return [{ path: yamlPath(path), message: `${wanted}, got ${shown(issue.input)}${hintFor(issue, path)}` }];
}

function unknownKey(
  parent: readonly PropertyKey[],
  key: string,
  known: readonly string[],
  platform: unknown = parent[0],
): Fault {
  const path = yamlPath([...parent, key]);
  const meant = didYouMean(key, known);
  const hint = meant || `; known here: ${known.join(", ")}`;
  const secret = meant === "" ? accountSecretHint(key, platform) : undefined;
  return { path, message: fixedKeyMessage(path) ?? secret ?? `unknown key${hint}` };
}
