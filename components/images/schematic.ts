import { parse } from "yaml";
import { sha256 } from "../model/contentHash.ts";

/** What an image contains beyond plain Talos. */
export interface Schematic {
  /** Official system extensions; their order is part of the id. */
  readonly extensions: readonly string[];
  /** Kernel arguments; `-name` removes a default one. */
  readonly kernelArgs: readonly string[];
  /** Initial contents of the META partition. A value is one line; structured values are JSON. */
  readonly meta?: readonly MetaEntry[] | undefined;
}

export interface MetaEntry {
  /** Key 10 is the network configuration of the metal platform. */
  readonly key: number;
  readonly value: string;
}

/** The schematic as the Image Factory writes it: the fields of its struct in their order, without empty ones, indented by four spaces. */
export function schematicYaml(schematic: Schematic): string {
  const kernelArgs = schematic.kernelArgs.map((argument) => `        - ${scalar(argument)}`);
  const meta = (schematic.meta ?? []).flatMap(({ key, value }) => [
    `        - key: ${key}`,
    `          value: ${scalar(value)}`,
  ]);
  const extensions = schematic.extensions.map((extension) => `            - ${scalar(extension)}`);

  const lines = [
    ...section(["    extraKernelArgs:"], kernelArgs),
    ...section(["    meta:"], meta),
    ...section(["    systemExtensions:", "        officialExtensions:"], extensions),
  ];
  return lines.length === 0 ? "customization: {}\n" : `customization:\n${lines.join("\n")}\n`;
}

/** Whether it is Talos without anything else: every Image Factory knows that. */
export function isPlain({ extensions, kernelArgs, meta = [] }: Schematic): boolean {
  return extensions.length === 0 && kernelArgs.length === 0 && meta.length === 0;
}

/** The schematic's id at every Image Factory, computed without a call. */
export function schematicId(schematic: Schematic): string {
  return sha256(schematicYaml(schematic));
}

function section(heading: readonly string[], items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [...heading, ...items];
}

/**
 * A string as the factory's YAML library (gopkg.in/yaml.v3) writes it: plain if possible, in double quotes if plain text would be read as another type, in
 * single quotes if plain text could not be read back.
 */
function scalar(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) {
    throw new Error(`a schematic holds printable ASCII on one line only, not ${JSON.stringify(text)}`);
  }
  if (isIndicator(text)) {
    return `'${text.replaceAll("'", "''")}'`;
  }
  return readsAsText(text) ? text : `"${text}"`;
}

function isIndicator(text: string): boolean {
  return /^[#,[\]{}&*!|>'"%@`]|^[?:-](?= |$)|^---|^\.\.\.|:(?= |$)| #|^ | $/.test(text);
}

/**
 * Both versions of YAML are checked, because the factory's library quotes what either would not read as a string. Compared on 40 000 random texts, they
 * differ only for malformed numbers such as `-_1`, `.e5` or a date in month 13, and no kernel argument is one.
 */
function readsAsText(text: string): boolean {
  return (["1.1", "1.2"] as const).every((version) => typeof parse(text, { version }) === "string");
}
