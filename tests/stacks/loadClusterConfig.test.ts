import { describe, expect, test } from "@jest/globals";
import { setAllConfig, setConfig } from "@pulumi/pulumi/runtime/config.js";
import { loadClusterConfig, parseClusterConfig } from "../../stacks/config.ts";
import { type RawConfig, rawConfig } from "../support/rawConfig.ts";

const tokenPatch = [{ name: "token", patch: { machine: { sysctls: { token: "hunter2" } } } }];

/** Hands the values over as the engine does: every one a text, lists and maps as JSON. */
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
    "U1 is read from the texts that the engine hands over: %s",
    (base) => {
      engineHas(rawConfig(base));
      expect(loadClusterConfig()).toEqual(parseClusterConfig(rawConfig(base)));
    },
  );

  test("U1 has true and false of a text, and keeps what looks like a number a text", () => {
    engineHas({ ...rawConfig("existing"), clusterName: "0815", protect: "true", endpoint: "10" });
    expect(loadClusterConfig()).toMatchObject({ clusterName: "0815", protect: true, endpoint: "10" });
  });

  test("U1 takes the empty values that Pulumi.yaml puts in for keys that are left out", () => {
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

  test("U1 leaves a provider's own keys alone", () => {
    engineHas(rawConfig("existing"));
    setConfig("hcloud:token", "0123");
    expect(loadClusterConfig()).toEqual(parseClusterConfig(rawConfig("existing")));
  });

  test("U1 is refused where a switch is neither on nor off", () => {
    engineHas({ ...rawConfig("existing"), protect: "yes" });
    expect(loadClusterConfig).toThrow('protect: must be true or false, got "yes"');
  });
});

describe("a secret", () => {
  test("in secretPatches is read where single parts are encrypted", () => {
    engineHas({ ...rawConfig("existing"), secretPatches: tokenPatch }, ["secretPatches"]);
    expect(loadClusterConfig().secretPatches).toEqual(tokenPatch);
  });

  test("in secretPatches is read where all of it was encrypted as YAML", () => {
    const text = "- name: token\n  patch: { machine: { sysctls: { token: hunter2 } } }\n";
    engineHas({ ...rawConfig("existing"), secretPatches: text }, ["secretPatches"]);
    expect(loadClusterConfig().secretPatches).toEqual(tokenPatch);
  });

  test("in secretPatches that is in plain text is refused, with the command that encrypts it", () => {
    engineHas({ ...rawConfig("existing"), secretPatches: tokenPatch });
    expect(loadClusterConfig).toThrow(
      [
        "The configuration has 1 fault:",
        "  secretPatches: is in plain text: encrypt it with 'npm run pulumi -- config set --secret secretPatches --stack <environment> < <file>.yaml', or its secret parts with '--secret --path'",
      ].join("\n"),
    );
  });

  test("in any other key is refused, because it would not stay one", () => {
    engineHas({ ...rawConfig("existing"), patches: tokenPatch }, ["patches"]);
    expect(loadClusterConfig).toThrow(
      [
        "The configuration has 1 fault:",
        "  patches: is encrypted, but it would not stay secret: set it in plain text, or move the secret part to secretPatches",
      ].join("\n"),
    );
  });

  test.each(["hunter2", "{hunter2", "'hunter2", "- hunter2: [", "hunter2: {"])(
    "that is no list of patches is in no message: %s",
    (secretPatches) => {
      engineHas({ ...rawConfig("existing"), secretPatches }, ["secretPatches"]);
      expect(loadClusterConfig).toThrow(/^(?!.*hunter2)The configuration has 1 fault:\n {2}secretPatches/s);
    },
  );
});
