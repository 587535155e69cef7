// Faults of an environment's file as YAML: one line each, the same from every reader.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { setAllConfig } from "@pulumi/pulumi/runtime/config.js";
import fc from "fast-check";
import { ConfigError } from "../../../stacks/base/fault.ts";
import { SettingsFileError } from "../../../stacks/base/settingsFileError.ts";
import { loadClusterConfig } from "../../../stacks/config/config.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { readSettingsFile } from "../../../stacks/config/settingsFile.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, "Pulumi.test.yaml");

const rest = `  sluice:platform: existing
  sluice:talosVersion: 1.12.6
  sluice:kubernetesVersion: 1.35.4
  sluice:nodes: [{ name: cp-1, role: controlplane, address: 10.0.0.11 }]
  sluice:network: { nodeCidr: 10.0.0.0/24 }
`;
const good = `config:\n  sluice:clusterName: home\n${rest}`;
const withLine = (line: string) => `${good}  ${line}\n`;

function refusalOf(read: () => unknown): Error | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof SettingsFileError || error instanceof ConfigError) return error;
    throw error;
  }
}

const quote = "put it in quotes if it is text, such as a version";
const octal = `a number that begins with 0 is octal for some readers of YAML and decimal for others: remove the 0, or ${quote}`;
const notDecimal = `a number with '_', or one that is not decimal, is text for some readers of YAML: write it in decimal digits alone, or ${quote}`;
const notCanonical = `the number is not written as YAML would write it, and would change: ${quote}, or write it in full`;
const noConfig =
  "the file has no 'config:' block: an environment's keys belong there, as in 'sluice:clusterName: home'";
const emptyConfig =
  "'config:' must be a map with at least one key: an environment's keys belong there, as in 'sluice:clusterName: home'";
const unknownTag = "the tag is not known: remove it, or put the value in quotes if the '!' is a part of it";

const wrong: readonly [title: string, text: string | Buffer, ...lines: string[]][] = [
  ["an empty file", "", `1:1: ${noConfig}`],
  ["a file of comments", "# later\n\n# more\n", `1:1: ${noConfig}`],
  ["a file with a marker of a document alone", "---\n", `4: ${noConfig}`],
  ["a list", "- config\n", `1:1: ${noConfig}`],
  ["a word", "config\n", `1:1: ${noConfig}`],
  ["no config: block", "encryptionsalt: v1:a:b\n", `1:1: ${noConfig}`],
  ["an empty config: block", "config:\n", `1:8: ${emptyConfig}`],
  ["config: as a list", "config:\n  - sluice:clusterName: home\n", `2:3: ${emptyConfig}`],
  ["config: as text", "config: home\n", `1:9: ${emptyConfig}`],
  ["a tab", "config:\n\tsluice:clusterName: home\n", "2:1: a tab is not allowed as indentation: use spaces"],
  [
    "a key that is there twice",
    withLine("sluice:platform: hetzner"),
    "8:3: the map has this key already: keep one of the two",
  ],
  [
    "a key that is there twice further in",
    withLine("sluice:flux: { path: ./a, path: ./b }"),
    "8:29: the map has this key already: keep one of the two",
  ],
  ["a quote that is never closed", withLine('sluice:endpoint: "hunter2'), "9:1: Missing closing"],
  [
    "a bracket that is never closed",
    withLine("sluice:image: { extensions: [hunter2 }"),
    "8:40: Flow sequence in block collection",
  ],
  [
    "an alias without an anchor",
    withLine("sluice:endpoint: *hunter2"),
    "8:20: the alias has no anchor before it: put the value in quotes if the '*' is a part of it",
  ],
  [
    "an alias to what contains it",
    withLine("sluice:patches: &all [*all]"),
    "8:25: the alias is inside of what it repeats",
  ],
  [
    "a second document",
    `${good}---\nconfig: {}\n`,
    "8:1: a second document begins here, and only the first would be read: remove the '---' or what follows it",
  ],
  [
    "a key without a prefix",
    "config:\n  clusterName: home\n",
    "2:3: the key 'clusterName' must be written 'sluice:clusterName'",
  ],
  [
    "keys that are nested",
    "config:\n  sluice:\n    clusterName: home\n",
    "2:3: the keys are not nested: write each as 'sluice:<key>'",
  ],
  [
    "a key with two colons",
    "config:\n  sluice:config:clusterName: home\n",
    "2:3: the key 'sluice:config:clusterName' must be of the form 'sluice:<key>'",
  ],
  [
    "a merge at the top",
    "config:\n  <<: { sluice:clusterName: home }\n",
    "2:3: maps cannot be merged right below 'config:': write the keys out",
  ],
  [
    "a key that is not indented",
    `${good}sluice:protect: true\n`,
    "8:1: the key 'sluice:protect' is unknown at the top: it belongs below 'config:', so indent it",
  ],
  [
    "config misspelt",
    "confg:\n  sluice:clusterName: home\n",
    "1:1: the key 'confg' is unknown at the top - did you mean 'config'?",
  ],
  ["a number as a key", withLine("sluice:flux: { 8: x }"), "8:18: a key must be text: put it in quotes"],
  ["a map as a key", withLine("sluice:flux: { { a: b }: x }"), "8:18: a key must be text"],
  ["a missing key", withLine("sluice:flux: { : x }"), "8:17: the key is missing before the ':'"],
  ["a leading zero", withLine("sluice:stableSeconds: 0100"), `8:25: ${octal}`],
  [
    "a leading zero in a list",
    withLine("sluice:timeouts: { stages: 010, etcd: 020 }"),
    `8:30: ${octal}`,
    `8:41: ${octal}`,
  ],
  ["digits in groups", withLine("sluice:timeouts: { stages: 8_192 }"), `8:30: ${notDecimal}`],
  ["a hexadecimal number", withLine("sluice:timeouts: { stages: 0x1F }"), `8:30: ${notDecimal}`],
  ["an octal number", withLine("sluice:timeouts: { stages: 0o17 }"), `8:30: ${notDecimal}`],
  ["a binary number", withLine("sluice:timeouts: { stages: 0b101 }"), `8:30: ${notDecimal}`],
  ["a version of two parts", withLine("sluice:flux: { version: 1.10 }"), `8:27: ${notCanonical}`],
  ["an exponent", withLine("sluice:timeouts: { stages: 3e2 }"), `8:30: ${notCanonical}`],
  ["a sign", withLine("sluice:timeouts: { stages: +30 }"), `8:30: ${notCanonical}`],
  ["a number without its 0", withLine("sluice:apply: { factor: .5 }"), `8:27: ${notCanonical}`],
  ["infinity", withLine("sluice:timeouts: { stages: .inf }"), `8:30: ${notCanonical}`],
  ["a number with more digits than YAML keeps", withLine("sluice:vm: 12345678901234567890"), `8:14: ${notCanonical}`],
  [
    "a date",
    withLine("sluice:flux: { branch: 2026-10-01 }"),
    `8:26: a date is changed by some readers of YAML: ${quote}`,
  ],
  [
    "a moment",
    withLine("sluice:flux: { branch: 2026-10-01T10:00:00Z }"),
    `8:26: a date is changed by some readers of YAML: ${quote}`,
  ],
  ["a tag", withLine("sluice:endpoint: !vault hunter2"), unknownTag],
  ["a value that begins with !", withLine("sluice:flux: { username: !hunter2 }"), unknownTag],
  ["bytes in Base64", withLine("sluice:endpoint: !!binary aGk="), unknownTag],
  [
    "UTF-16 with a mark",
    Buffer.from(`\uFEFF${good}`, "utf16le"),
    "1:1: the file is UTF-16 or binary: save it as UTF-8",
  ],
  ["UTF-16 without a mark", Buffer.from(good, "utf16le"), "1:1: the file is UTF-16 or binary: save it as UTF-8"],
  ["Latin-1", Buffer.from(good.replace("home", "hömer"), "latin1"), "1:1: the file is not UTF-8: save it as UTF-8"],
  ["aliases that multiply", `config:\n${bomb()}${rest}`, "1:1: the file has too many aliases: write the values out"],
];

function bomb(): string {
  const levels = ["a", "b", "c", "d"].map((name, index, names) => {
    const inside = Array(10).fill(index === 0 ? "x" : `*${names[index - 1]}`);
    return `  other:${name}: &${name} [${inside.join(", ")}]\n`;
  });
  return levels.join("");
}

describe("S2.4 a file is refused in one line with its place, without quoting a value", () => {
  test.each(wrong)("%s", (_, text, ...lines) => {
    writeFileSync(path, text);
    const message = refusalOf(() => readSettingsFile(path))?.message ?? "";
    const found = message.split("\n");
    expect(found).toHaveLength(lines.length);
    for (const [index, line] of lines.entries()) expect(found[index]).toContain(line);
    for (const line of found) expect(line).toMatch(/Pulumi\.test\.yaml:\d+:\d+: /);
    expect(message).not.toContain("hunter2");
    expect(refusalOf(() => readClusterConfigFile(path))?.message).toBe(message);
  });
});

describe("S2.4 a file is accepted with", () => {
  test.each([
    ["a byte order mark", `\uFEFF${good}`],
    ["a marker of its only document", `---\n${good}...\n`],
    ["Windows' ends of lines", good.replaceAll("\n", "\r\n")],
    [
      "an anchor and its alias",
      good.replace("home", "&name home").replace("10.0.0.0/24 }", "10.0.0.0/24, dnsDomain: *name }"),
    ],
    ["numbers in quotes", withLine('sluice:clusterName2: "0100"').replace(/.*clusterName2.*\n/, "")],
    ["a merged map", withLine("sluice:cilium: { values: { <<: { MTU: 1400 } } }")],
  ])("%s", (_, text) => {
    writeFileSync(path, text);
    expect(readClusterConfigFile(path).config.platform.name).toBe("existing");
  });
});

describe("S2.4 all commands read one meaning", () => {
  const scalar = fc.oneof(
    fc.constantFrom("0100", "8_192", "0x10", "1.10", "yes", "on", "~", "null", "true", "True", '"5"', "5", "-1", "1e3"),
    fc.constantFrom(
      "2026-01-01",
      "40G",
      "[]",
      "{}",
      "[a]",
      "{ a: b }",
      "*x",
      "!x y",
      '"',
      "'",
      "- a",
      "",
      "&a b",
      "10.0.0.12",
    ),
  );
  const key = fc.constantFrom(
    "clusterName",
    "sluice:clusterName",
    "sluice:nodes",
    "sluice:network",
    "sluice:stableSeconds",
    "sluice:protect",
    "sluice:endpoint",
    "sluice:timeouts",
    "sluice:image",
    "talos:nodes",
    "sluice:patches",
    "sluice:talosVersion",
  );
  const line = fc.tuple(key, scalar).map(([name, value]) => `  ${name}: ${value}\n`);
  const text = fc.array(line, { maxLength: 4 }).map((lines) => `config:\n${lines.join("")}`);

  test("a file has the same faults from the engine's program and from the commands that run without it", () => {
    fc.assert(
      fc.property(text, (lines) => {
        writeFileSync(path, lines);
        const direct = refusalOf(() => readClusterConfigFile(path));
        const yaml = refusalOf(() => readSettingsFile(path));
        if (yaml !== undefined) return expect(direct?.message).toBe(yaml.message);
        setAllConfig(asEnginePasses(path));
        return expect(refusalOf(() => loadClusterConfig("Pulumi.test.yaml"))?.message).toBe(direct?.message);
      }),
      { numRuns: 300 },
    );
  });

  /** The engine passes each value as text: lists and maps as JSON, nothing as empty text. */
  function asEnginePasses(file: string): Record<string, string> {
    const { own, ofOthers } = readSettingsFile(file);
    const all = {
      ...ofOthers,
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [`sluice:${name}`, value])),
    };
    return Object.fromEntries(
      Object.entries(all).map(([name, value]) => [
        name,
        value === null ? "" : typeof value === "string" ? value : JSON.stringify(value),
      ]),
    );
  }
});
