import { createHash } from "node:crypto";
import { parse } from "yaml";

/** What is put into an image beyond plain Talos. */
export interface Schematic {
  /** Official system extensions; their order is part of the id. */
  readonly extensions: readonly string[];
  /** Kernel arguments; `-name` takes a default one away. */
  readonly kernelArgs: readonly string[];
  /** Initial contents of the META partition. A value is one line; structured ones go in as JSON. */
  readonly meta?: readonly MetaEntry[] | undefined;
}

export interface MetaEntry {
  /** 10 is the network configuration of the metal platform. */
  readonly key: number;
  readonly value: string;
}

/** The schematic as the Image Factory writes it down: the fields of its struct in their order, empty ones left out, four spaces a level. */
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

/** The id under which every Image Factory knows the schematic: no call is needed to learn it. */
export function schematicId(schematic: Schematic): string {
  return createHash("sha256").update(schematicYaml(schematic)).digest("hex");
}

function section(heading: readonly string[], items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [...heading, ...items];
}

/**
 * A string as the factory's YAML library (gopkg.in/yaml.v3) writes it: plain where it can be, in double quotes where plain text would
 * read as something else than a string, in single quotes where plain text would not read back.
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
 * Both versions of YAML are asked, as the factory's library quotes what either would not read as a string. Compared on 40 000 random texts
 * they disagree on misshapen numbers only, `-_1`, `.e5` or a date in month 13, which no kernel argument is.
 */
function readsAsText(text: string): boolean {
  return (["1.1", "1.2"] as const).every((version) => typeof parse(text, { version }) === "string");
}
