import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../stacks/config.ts";
import { readClusterConfigFile } from "../../stacks/configFile.ts";
import { rawConfig } from "../support/rawConfig.ts";
import { runChild } from "../support/runChild.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

// By name: a person's own environments lie beside them.
const environments = ["Pulumi.cloud.yaml", "Pulumi.dev.yaml", "Pulumi.home.yaml"];

const good = `config:
  hcloud:token: { secure: v1:abc }
  sluice:clusterName: 0815
  sluice:platform: existing
  sluice:talosVersion: 1.12.6
  sluice:kubernetesVersion: 1.35.4
  sluice:nodes: [{ name: cp-1, role: controlplane, address: 10.0.0.11 }]
  sluice:network: { nodeCidr: 10.0.0.0/24 }
`;

function file(text: string, name = "Pulumi.test.yaml"): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe("an environment's file", () => {
  test.each(environments)("U2 is good as it is delivered: %s", (name) => {
    expect(readClusterConfigFile(join(root, name)).hidden).toEqual([]);
  });

  test.each(["home", "cloud"] as const)("U2 says offline what it says to the engine: %s", (base) => {
    const { config } = readClusterConfigFile(join(root, `Pulumi.${base}.yaml`));
    expect(config).toEqual(parseClusterConfig(rawConfig(base)));
  });

  test("U2 is read without the SDK, which would take longer to load than all the rest", async () => {
    const read = `import { createRequire } from "node:module";
      await import(${JSON.stringify(join(root, "stacks/configFile.ts"))});
      console.log(Object.keys(createRequire(import.meta.url).cache).join("\\n"));`;
    const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", read];
    const { stdout, stderr } = await runChild(process.execPath, args, { env: process.env });
    expect(stderr).toBe("");
    expect(stdout).toContain("@pulumi/pulumi/runtime/config.js");
    expect(stdout).not.toMatch(/@pulumi\/(pulumi\/index|kubernetes|hcloud)/);
  });

  test("U2 keeps what looks like a number a text, and a provider's own keys to itself", () => {
    const { config, hidden } = readClusterConfigFile(file(good));
    expect([config.clusterName, hidden]).toEqual(["0815", []]);
  });

  test("U2 has the defaults of the Pulumi.yaml beside it", () => {
    const project = file(
      "config:\n  protect: { type: boolean, default: true }\n  platform: { type: string }\n",
      "Pulumi.yaml",
    );
    const { config } = readClusterConfigFile(file(good));
    rmSync(project);
    expect(config.protect).toBe(true);
  });

  test.each([
    ["as a whole", "  sluice:secretPatches: { secure: v1:abc }\n"],
    ["in parts", "  sluice:secretPatches: [{ name: a, patch: { machine: { token: { secure: v1:abc } } } }]\n"],
  ])("U2 is read without the secret patches, and says so, where they are encrypted %s", (_, secretPatches) => {
    const { config, hidden } = readClusterConfigFile(file(good + secretPatches));
    expect([config.secretPatches, hidden]).toEqual([[], ["secretPatches"]]);
  });

  test.each([
    [
      "tailscaleAuthKey",
      "  sluice:tailscale: { enabled: true }\n  sluice:image: { extensions: [siderolabs/tailscale] }\n",
    ],
    [
      "fluxGitSshKey",
      "  sluice:flux: { url: ssh://git@example.org/home.git, knownHosts: example.org ssh-ed25519 AAAA }\n",
    ],
  ])("U2 does not miss a secret that is there and only cannot be read: %s", (key, needs) => {
    const secret = `  sluice:${key}: { secure: v1:abc }\n`;
    expect(readClusterConfigFile(file(good + needs + secret)).hidden).toEqual([key]);
    expect(() => readClusterConfigFile(file(good + needs))).toThrow(`${key}: is missing`);
  });
});

describe("an environment's file is refused", () => {
  const refused = (path: string) => expect(() => readClusterConfigFile(path));

  test("with the environments there are, where it is not there", () => {
    file(good, "Pulumi.other.yaml");
    file(good);
    refused(join(folder, "Pulumi.prod.yaml")).toThrow(
      `${join(folder, "Pulumi.prod.yaml")} does not exist; there are the environments other, test`,
    );
    refused(join(folder, "none", "Pulumi.prod.yaml")).toThrow("does not exist; there is no environment beside it");
  });

  test("with line and column, where it is no YAML", () => {
    const path = file("config:\n  sluice:clusterName: home\n  sluice:nodes: [\n  sluice:platform: existing\n");
    refused(path).toThrow(
      `${path}:4:3: Flow sequence in block collection must be sufficiently indented and end with a ]`,
    );
  });

  test("without repeating a text of the file, where it is no YAML", () => {
    refused(file(`${good}  sluice:secretPatches: "a" hunter2\n`)).toThrow(/^(?!.*hunter2).*Pulumi\.test\.yaml:9:/s);
  });

  test("where it has no config", () => {
    const path = file("encryptionsalt: v1:abc\n");
    refused(path).toThrow(
      `${path} has no 'config:' block: the environment's keys belong there, as in 'sluice:clusterName: home'`,
    );
  });

  test("where a key has no project before it", () => {
    const path = file("config:\n  clusterName: home\n");
    refused(path).toThrow(`${path}: the key 'clusterName' must be written 'sluice:clusterName'`);
  });

  test("where a secret patch is in plain text, without showing it", () => {
    const patches = "  sluice:secretPatches: [{ name: hunter2, patch: { machine: { token: hunter2 } } }]\n";
    refused(file(good + patches)).toThrow(/^(?!.*hunter2).* 2 faults:\n {2}secretPatches: is in plain text/s);
  });

  test("where a key that does not stay secret is encrypted", () => {
    refused(file(good.replace("0815", "{ secure: v1:abc }"))).toThrow(
      [
        "The configuration has 1 fault:",
        "  clusterName: is encrypted, but it would not stay secret: set it in plain text, or move the secret part to secretPatches",
      ].join("\n"),
    );
  });
});
