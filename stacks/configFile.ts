// Reads an environment's file without the engine, for commands that only show what would be.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { parseClusterConfig } from "./config.ts";
import { decodeConfigValues, projectName, secrecyFaults } from "./configValues.ts";
import { type ClusterConfig, secretKeys } from "./schema.ts";

/** What an environment's file says, as far as it can be read without the engine. */
export interface ClusterConfigFile {
  readonly config: ClusterConfig;
  /** Keys whose values only the engine can decrypt: `config` has their defaults instead. */
  readonly hidden: readonly string[];
}

/** Reads `Pulumi.<env>.yaml`, or another text as if it stood there, with the defaults of the Pulumi.yaml beside it. */
export function readClusterConfigFile(path: string, text?: string): ClusterConfigFile {
  const values = { ...projectDefaults(dirname(path)), ...configValues(path, text) };
  const encrypted = Object.keys(values).filter((key) => isEncrypted(values[key]));
  const faults = secrecyFaults(values, (key) => encrypted.includes(key));
  const readable = Object.entries(values).filter(([key]) => !encrypted.includes(key));
  const hidden = encrypted.filter((key) => secretKeys.has(key));
  return { config: parseClusterConfig(decodeConfigValues(Object.fromEntries(readable)), faults, hidden), hidden };
}

/** The project's values as the engine would hand them over: a scalar is the text that stands there, for 1.10 is a version and no number. */
function configValues(path: string, text?: string): Record<string, unknown> {
  if (!existsSync(path)) throw new Error(`${path} does not exist; ${environments(dirname(path))}`);
  const document = readYaml(path, text);
  const config = document.get("config");
  if (!isMap(config)) {
    throw new Error(
      `${path} has no 'config:' block: the environment's keys belong there, as in '${projectName}:clusterName: home'`,
    );
  }
  const values: Record<string, unknown> = {};
  for (const { key, value } of config.items) {
    const [namespace, name] = String(key).split(":");
    if (name === undefined) {
      throw new Error(`${path}: the key '${namespace}' must be written '${projectName}:${namespace}'`);
    }
    if (namespace !== projectName) continue; // a provider's own
    values[name] = isScalar(value) ? (value.source ?? value.value) : isNode(value) ? value.toJS(document) : value;
  }
  return values;
}

function projectDefaults(folder: string): Record<string, unknown> {
  const path = join(folder, "Pulumi.yaml");
  const declared: Record<string, { default?: unknown }> = existsSync(path) ? (readYaml(path).toJS().config ?? {}) : {};
  const defaults = Object.entries(declared).map(([key, declaration]) => [key, declaration.default]);
  return Object.fromEntries(defaults.filter(([, value]) => value !== undefined));
}

function readYaml(path: string, text = readFileSync(path, "utf8")): Document {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, merge: true, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    // Pretty errors, and what stands in quotes in plain ones, repeat the text of the file.
    throw new Error(`${path}:${line}:${col}: ${error.message.replace(/:? ".*$/s, "")}`);
  }
  return document;
}

function environments(folder: string): string {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const names = files.flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? []).sort();
  return names.length === 0 ? "there is no environment beside it" : `there are the environments ${names.join(", ")}`;
}

/** Whether the value, or anything in it, is encrypted. Pulumi takes the whole key for secret then. */
function isEncrypted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const entries = Object.entries(value);
  const isSecure = entries.length === 1 && entries[0]?.[0] === "secure" && typeof entries[0][1] === "string";
  return isSecure || entries.some(([, inner]) => isEncrypted(inner));
}
