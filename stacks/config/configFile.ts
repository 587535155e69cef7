// Reads an environment: from its file alone, for commands that run without the engine, and in the engine's program.
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ClusterConfig, secretKeys } from "../schema/clusterConfig.ts";
import { loadClusterConfig, parseClusterConfig } from "./config.ts";
import { decodeConfigValues, secrecyFaults } from "./configValues.ts";
import { foreignNamespaceFaults } from "./namespaces.ts";
import { providerSecretFaults } from "./providerSecrets.ts";
import { readSettingsFile } from "./settingsFile.ts";
import { readYamlFile } from "./yamlFile.ts";

/** An environment, as far as it can be read without the engine. */
export interface ClusterConfigFile {
  readonly config: ClusterConfig;
  /** Keys whose values only the engine can decrypt: `config` has their defaults instead. */
  readonly hidden: readonly string[];
}

/** Reads `Pulumi.<env>.yaml`, or `text` in place of its content, with the defaults of the Pulumi.yaml beside it. */
export function readClusterConfigFile(path: string, text?: string): ClusterConfigFile {
  const { own, ofOthers } = readSettingsFile(path, text);
  const values = { ...projectDefaults(dirname(path)), ...own };
  const encrypted = Object.keys(values).filter((key) => isEncrypted(values[key]));
  // What `text` leaves out, such as accounts on a lab, is in the file in plain text all the same.
  const { own: inFile, ofOthers: ofOthersInFile } = readSettingsFile(path);
  const found = [
    ...secrecyFaults({ ...values, ...inFile }, (key) => isEncrypted(inFile[key] ?? values[key])),
    // What is encrypted in part only is in plain text for the rest, and here that can be seen.
    ...providerSecretFaults({ ...ofOthers, ...ofOthersInFile }, () => false),
    ...foreignNamespaceFaults(Object.keys(ofOthers)),
  ];
  const readable = Object.entries(values)
    .filter(([key]) => !encrypted.includes(key))
    .map(([key, value]) => [key, engineText(value)]);
  const hidden = encrypted.filter((key) => secretKeys.has(key));
  const raw = decodeConfigValues(Object.fromEntries(readable));
  return { config: parseClusterConfig(raw, { found, hidden, file: basename(path) }), hidden };
}

/**
 * The configuration of the stack that is running. Its values come from the engine, which alone can decrypt them. Its file, where that is in the project, is
 * read too: what the engine reads differently than other commands do is refused.
 */
export function loadStackConfig(stack: string): ClusterConfig {
  const file = `Pulumi.${stack}.yaml`;
  if (existsSync(file)) readSettingsFile(file);
  return loadClusterConfig(file);
}

/** A value as the engine passes it to its program. */
function engineText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function projectDefaults(folder: string): Record<string, unknown> {
  const path = join(folder, "Pulumi.yaml");
  const declared: Record<string, { default?: unknown }> = existsSync(path)
    ? (readYamlFile(path).document.toJS().config ?? {})
    : {};
  const defaults = Object.entries(declared).map(([key, declaration]) => [key, declaration.default]);
  return Object.fromEntries(defaults.filter(([, value]) => value !== undefined));
}

/** Whether the value, or anything in it, is encrypted. Pulumi then treats the whole key as secret. */
function isEncrypted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const entries = Object.entries(value);
  const isSecure = entries.length === 1 && entries[0]?.[0] === "secure" && typeof entries[0][1] === "string";
  return isSecure || entries.some(([, inner]) => isEncrypted(inner));
}
