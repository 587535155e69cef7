// With internet access the official Talos plugin and its SDK are used, so the program uses only what they have too.
// officialTalos.json records what they have, from their repository: the SDK is not on every npm registry.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ownFiles, usedMembers, usedProperties } from "./support/programUse.ts";
import { loadProgram } from "./support/sdk.ts";
import { sdkIndex, tokenNamed, typeText } from "./support/sdkTypes.ts";

interface OfficialSdk {
  readonly tokens: Readonly<Record<string, string>>;
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const official: OfficialSdk = JSON.parse(readFileSync(join(import.meta.dirname, "officialTalos.json"), "utf8"));
const program = loadProgram([...ownFiles, sdkIndex("talos")]);

describe("sdks/talos has the interface of the official SDK", () => {
  test.each(Object.entries(official.tokens))("%s creates or calls %s", (name, token) => {
    expect(tokenNamed(program, "talos", name)).toBe(token);
  });

  test.each(Object.entries(official.types))("%s can be imported and has the same properties", (name, properties) => {
    expect(typeText(program, "talos", name)).toEqual(properties);
  });
});

describe("the official SDK has what the program uses", () => {
  const used = [...usedMembers(program, ownFiles).values()].filter(({ plugin }) => plugin === "talos");

  test.each(used.map(({ token }) => token))("it has %s", (token) => {
    expect(Object.values(official.tokens)).toContain(token);
  });

  test.each([...usedProperties(program, ownFiles, "talos")])("it has %s", (property) => {
    const [, type = "", name = ""] = /^(.*)\.(\w+)$/.exec(property) ?? [];
    const properties = Object.keys(official.types[type] ?? {}).map((key) => key.replace("?", ""));
    expect(properties).toContain(name);
  });

  test("something that it uses was found", () => {
    expect(used.map(({ token }) => token)).toEqual(
      expect.arrayContaining(["talos:machine/secrets:Secrets", "talos:machine/getConfiguration:getConfiguration"]),
    );
    expect([...usedProperties(program, ownFiles, "talos")]).toEqual(
      expect.arrayContaining(["machine.SecretsArgs.talosVersion", "machine.Secrets.machineSecrets"]),
    );
  });
});
