// The file of an environment as YAML: its keys, by namespace. All commands read it here; the engine reads the same file itself, and whatever it would read
// differently is refused (yamlFile.ts).
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Document, isAlias, isMap, isNode, isScalar, type YAMLMap } from "yaml";
import { didYouMean } from "../../components/model/suggest.ts";
import { SettingsFileError } from "../base/settingsFileError.ts";
import { offsetOf, readYamlFile, shownPath, type YamlFault } from "./yamlFile.ts";

/** The project's name in Pulumi.yaml, before every key of an environment: `sluice:nodes`. */
export const projectName = "sluice";

export interface SettingsFile {
  readonly document: Document;
  /** Values of the project, by key without its name. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Values of providers and other namespaces, by the key as it is in the file. */
  readonly ofOthers: Readonly<Record<string, unknown>>;
}

/** The keys that the engine knows at the top of such a file. */
const topKeys = ["config", "encryptionsalt", "encryptedkey", "secretsprovider", "environment"];

/** Reads `Pulumi.<env>.yaml`, or `text` in place of its content. Throws a `SettingsFileError` that lists every fault. */
export function readSettingsFile(path: string, text?: string): SettingsFile {
  if (!existsSync(path)) {
    throw new SettingsFileError(`${shownPath(path)} does not exist; ${environments(dirname(path))}`);
  }
  const { document, refusal } = readYamlFile(path, text);
  const root = document.contents;
  if (!isMap(root)) throw refusal([{ offset: offsetOf(root), message: `the file has no 'config:' block: ${example}` }]);
  const config = root.get("config", true);
  const faults = [...topFaults(root), ...(isMap(config) ? config.items.flatMap(({ key }) => keyFaults(key)) : [])];
  if (faults.length > 0) throw refusal(faults);
  if (!isMap(config)) throw refusal([{ offset: offsetOf(config), message: configFault(config) }]);
  return { document, ...namespaces(document, config) };
}

const example = `an environment's keys belong there, as in '${projectName}:clusterName: home'`;

function configFault(config: unknown): string {
  if (config === undefined) return `the file has no 'config:' block: ${example}`;
  return `'config:' must be a map with at least one key: ${example}`;
}

/** A key at the top usually has lost its indentation, and the engine ignores it silently. */
function topFaults(root: YAMLMap): YamlFault[] {
  return root.items.flatMap(({ key }) => {
    const name = String(key);
    if (topKeys.includes(name)) return [];
    const hint = name.includes(":") ? `: it belongs below 'config:', so indent it` : didYouMean(name, topKeys);
    return [{ offset: offsetOf(key), message: `the key '${name}' is unknown at the top${hint || `: ${example}`}` }];
  });
}

function keyFaults(key: unknown): YamlFault[] {
  const name = isScalar(key) && typeof key.value === "symbol" ? "<<" : String(key);
  const parts = name.split(":");
  if (parts.length === 2 && parts.every((part) => part !== "")) return [];
  return [{ offset: offsetOf(key), message: keyFault(name, parts) }];
}

function keyFault(name: string, parts: readonly string[]): string {
  if (name === "<<") return "maps cannot be merged right below 'config:': write the keys out";
  if (name === projectName) return `the keys are not nested: write each as '${projectName}:<key>'`;
  if (parts.length === 1) return `the key '${name}' must be written '${projectName}:${name}'`;
  return `the key '${name}' must be of the form '${projectName}:<key>'`;
}

/** A scalar is text, as the engine passes it; an empty value is null. */
function namespaces(document: Document, config: YAMLMap): Omit<SettingsFile, "document"> {
  const values = config.items.map(({ key, value }): [string, unknown] => {
    const node = isAlias(value) ? value.resolve(document) : value;
    return [String(key), isScalar(node) ? scalarText(node.value) : isNode(node) ? node.toJS(document) : null];
  });
  const prefix = `${projectName}:`;
  const own = values.filter(([key]) => key.startsWith(prefix));
  return {
    own: Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value])),
    ofOthers: Object.fromEntries(values.filter(([key]) => !key.startsWith(prefix))),
  };
}

function scalarText(value: unknown): string | null {
  return value === null ? null : String(value);
}

function environments(folder: string): string {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const names = files.flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.[1] ?? []).sort();
  return names.length === 0 ? "there is no environment beside it" : `there are the environments ${names.join(", ")}`;
}
