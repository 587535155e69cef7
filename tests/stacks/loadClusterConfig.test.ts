import { rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "@jest/globals";
import { allConfig, setAllConfig, setConfig } from "@pulumi/pulumi/runtime/config.js";
import { loadClusterConfig, parseClusterConfig } from "../../stacks/config/config.ts";
import { loadStackConfig } from "../../stacks/config/configFile.ts";
import { type RawConfig, rawConfig } from "../support/rawConfig.ts";

const tokenPatch = [{ name: "token", patch: { machine: { sysctls: { token: "hunter2" } } } }];

/** Sets the values as the engine does: each as text, lists and maps as JSON. */
function engineHas(raw: RawConfig, secretKeys: string[] = []): void {
  const texts = Object.entries(raw).map(([key, value]) => [
    `sluice:${key}`,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  setAllConfig(
    Object.fromEntries(texts),
    secretKeys.map((key) => `sluice:${key}`),
  );
}

describe("the stack's configuration", () => {
  test.each(["home", "cloud", "existing"] as const)(
    "U1 the configuration is read from the text values of the engine: %s",
    (base) => {
      engineHas(rawConfig(base));
      expect(loadClusterConfig()).toEqual(parseClusterConfig(rawConfig(base)));
    },
  );

  test("U1 booleans are read from text, and text that looks like a number stays text", () => {
    engineHas({ ...rawConfig("existing"), clusterName: "0815", protect: "true" });
    expect(loadClusterConfig()).toMatchObject({ clusterName: "0815", protect: true });
  });

  test("U1 the empty values that Pulumi.yaml has for absent keys count as absent", () => {
    const absent = {
      endpoint: "",
      image: {},
      install: {},
      machine: {},
      patches: [],
      secretPatches: [],
      hetzner: {},
      proxmox: {},
    };
    engineHas({ ...absent, ...rawConfig("existing"), protect: "false" });
    expect(loadClusterConfig()).toEqual(parseClusterConfig(rawConfig("existing")));
  });

  test("U1 keys of providers are ignored", () => {
    engineHas(rawConfig("existing"));
    setConfig("hcloud:endpoint", "https://api.example.org");
    expect(loadClusterConfig()).toEqual(parseClusterConfig(rawConfig("existing")));
  });

  test("U1 a boolean that is neither true nor false is refused", () => {
    engineHas({ ...rawConfig("existing"), protect: "yes" });
    expect(loadClusterConfig).toThrow('protect: must be true or false, got "yes"');
  });
});

describe("the program of a stack", () => {
  const stack = `test-${process.pid}-load`;
  const file = `Pulumi.${stack}.yaml`;
  afterEach(() => rmSync(file, { force: true }));

  test("U1 refuses what its file leaves open, although the engine has read it", () => {
    engineHas({ ...rawConfig("existing"), stableSeconds: 64 });
    writeFileSync(file, "config:\n  sluice:stableSeconds: 0100\n");
    expect(() => loadStackConfig(stack)).toThrow(`${file}:2:25: a number that begins with 0 is octal`);
  });

  test("U1 names its file before the faults of its values, and needs no such file", () => {
    engineHas({ ...rawConfig("existing"), protect: "yes" });
    expect(() => loadStackConfig(stack)).toThrow(`${file} has 1 fault:\n  protect: `);
    engineHas(rawConfig("existing"));
    expect(loadStackConfig(stack)).toEqual(parseClusterConfig(rawConfig("existing")));
  });
});

describe("a secret", () => {
  test("secretPatches are read when single parts are encrypted", () => {
    engineHas({ ...rawConfig("existing"), secretPatches: tokenPatch }, ["secretPatches"]);
    expect(loadClusterConfig().secretPatches).toEqual(tokenPatch);
  });

  test("secretPatches are read when they were encrypted as one YAML text", () => {
    const text = "- name: token\n  patch: { machine: { sysctls: { token: hunter2 } } }\n";
    engineHas({ ...rawConfig("existing"), secretPatches: text }, ["secretPatches"]);
    expect(loadClusterConfig().secretPatches).toEqual(tokenPatch);
  });

  test("secretPatches in plain text are refused, with the command that encrypts them", () => {
    engineHas({ ...rawConfig("existing"), secretPatches: tokenPatch });
    expect(loadClusterConfig).toThrow(
      [
        "The configuration has 1 fault:",
        "  secretPatches: is in plain text: encrypt it with 'npm run pulumi -- config set --secret secretPatches --stack <environment> < <file>.yaml', or its secret parts with '--secret --path'",
      ].join("\n"),
    );
  });

  test("the token of an account in plain text is refused, with the command that encrypts it, and accepted encrypted", () => {
    engineHas(rawConfig("existing"));
    setConfig("hcloud:token", "hunter2");
    expect(loadClusterConfig).toThrow(
      /^(?!.*hunter2)The configuration has 1 fault:\n {2}hcloud:token: is in plain text: encrypt it with 'npm run pulumi -- config set --secret hcloud:token --stack <environment>'/s,
    );
    const texts = { "hcloud:token": "hunter2", ...allConfig() };
    setAllConfig(texts, ["hcloud:token"]);
    expect(loadClusterConfig()).toEqual(parseClusterConfig(rawConfig("existing")));
  });

  test("an encrypted value in any other key is refused, because it would not stay secret", () => {
    engineHas({ ...rawConfig("existing"), patches: tokenPatch }, ["patches"]);
    expect(loadClusterConfig).toThrow(
      [
        "The configuration has 1 fault:",
        "  patches: is encrypted, but it would not stay secret: set it in plain text, or move the secret part to secretPatches",
      ].join("\n"),
    );
  });

  test.each(["hunter2", "{hunter2", "'hunter2", "- hunter2: [", "hunter2: {"])(
    "a secret that is not a list of patches is not shown in the message: %s",
    (secretPatches) => {
      engineHas({ ...rawConfig("existing"), secretPatches }, ["secretPatches"]);
      expect(loadClusterConfig).toThrow(/^(?!.*hunter2)The configuration has 1 fault:\n {2}secretPatches/s);
    },
  );
});
