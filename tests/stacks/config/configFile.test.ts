import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { readClusterConfigFile } from "../../../stacks/config/configFile.ts";
import { rawConfig } from "../../support/rawConfig.ts";
import { runChild } from "../../support/runChild.ts";

const root = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

// By name: your own environments are next to them.
const environments = ["Pulumi.cloud.yaml", "Pulumi.dev.yaml", "Pulumi.home.yaml"];

const good = `config:
  hcloud:token: { secure: v1:abc }
  sluice:clusterName: "0815"
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
  test.each(environments)("U2 the environment that comes with Sluice is valid: %s", (name) => {
    expect(readClusterConfigFile(join(root, name)).hidden).toEqual([]);
  });

  test.each(["home", "cloud"] as const)("U2 the file is read offline as the engine passes it: %s", (base) => {
    const { config } = readClusterConfigFile(join(root, `Pulumi.${base}.yaml`));
    expect(config).toEqual(parseClusterConfig(rawConfig(base)));
  });

  test("U2 the file is read without the SDK, which takes longer to load than everything else", async () => {
    const read = `import { createRequire } from "node:module";
      await import(${JSON.stringify(join(root, "stacks/config/configFile.ts"))});
      console.log(Object.keys(createRequire(import.meta.url).cache).join("\\n"));`;
    const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", read];
    const { stdout, stderr } = await runChild(process.execPath, args, { env: process.env });
    expect(stderr).toBe("");
    expect(stdout).toContain("@pulumi/pulumi/runtime/config.js");
    expect(stdout).not.toMatch(/@pulumi\/(pulumi\/index|kubernetes|hcloud)/);
  });

  test("U2 text that looks like a number stays text where it is in quotes, and keys of providers are ignored", () => {
    const { config, hidden } = readClusterConfigFile(file(good));
    expect([config.clusterName, hidden]).toEqual(["0815", []]);
  });

  test("U2 the defaults of the Pulumi.yaml beside the file are used", () => {
    const project = file(
      "config:\n  protect: { type: boolean, default: true }\n  platform: { type: string }\n",
      "Pulumi.yaml",
    );
    const { config } = readClusterConfigFile(file(good));
    rmSync(project);
    expect(config.protect).toBe(true);
  });

  test.each(["hcloud:endpoint", "proxmoxve:endpoint", "kubernetes:namespace", "mine:team", "mine:sluiceTeam"])(
    "U2 a key of a provider, or of another program, is accepted: %s",
    (key) => {
      expect(readClusterConfigFile(file(`${good}  ${key}: x\n`)).config.clusterName).toBe("0815");
    },
  );

  test.each([
    ["as a whole", "  sluice:secretPatches: { secure: v1:abc }\n"],
    ["in parts", "  sluice:secretPatches: [{ name: a, patch: { machine: { token: { secure: v1:abc } } } }]\n"],
  ])("U2 secret patches that are encrypted %s are left out, and reported as hidden", (_, secretPatches) => {
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
  ])("U2 an encrypted secret does not count as missing: %s", (key, needs) => {
    const secret = `  sluice:${key}: { secure: v1:abc }\n`;
    expect(readClusterConfigFile(file(good + needs + secret)).hidden).toEqual([key]);
    expect(() => readClusterConfigFile(file(good + needs))).toThrow(`${key}: is missing`);
  });
});

describe("an environment's file is refused", () => {
  const refused = (path: string) => expect(() => readClusterConfigFile(path));

  test("a missing file is refused with the environments that exist", () => {
    file(good, "Pulumi.other.yaml");
    file(good);
    refused(join(folder, "Pulumi.prod.yaml")).toThrow(
      `${join(folder, "Pulumi.prod.yaml")} does not exist; there are the environments other, test`,
    );
    refused(join(folder, "none", "Pulumi.prod.yaml")).toThrow("does not exist; there is no environment beside it");
  });

  test("invalid YAML is refused with line and column", () => {
    const path = file("config:\n  sluice:clusterName: home\n  sluice:nodes: [\n  sluice:platform: existing\n");
    refused(path).toThrow(
      `${path}:4:3: Flow sequence in block collection must be sufficiently indented and end with a ]`,
    );
  });

  test("invalid YAML is refused without text of the file in the message", () => {
    refused(file(`${good}  sluice:secretPatches: "a" hunter2\n`)).toThrow(/^(?!.*hunter2).*Pulumi\.test\.yaml:9:/s);
  });

  test("a file without a block config is refused", () => {
    const path = file("encryptionsalt: v1:abc\n");
    refused(path).toThrow(
      `${path}:1:1: the file has no 'config:' block: an environment's keys belong there, as in 'sluice:clusterName: home'`,
    );
  });

  test("a key without the project's name is refused", () => {
    const path = file("config:\n  clusterName: home\n");
    refused(path).toThrow(`${path}:2:3: the key 'clusterName' must be written 'sluice:clusterName'`);
  });

  test.each([
    ["talos:nodes", "sluice:nodes"],
    ["sluce:protect", "sluice:protect"],
    ["Sluice:protect", "sluice:protect"],
    ["cluster:clusterName", "sluice:clusterName"],
  ])("a key in a namespace that nobody reads is refused with the namespace: %s", (key, meant) => {
    const [namespace] = key.split(":");
    refused(file(`${good}  ${key}: x\n`)).toThrow(
      `Pulumi.test.yaml has 1 fault:\n  ${key}: has the namespace '${namespace}', which Sluice does not read: write ${meant}`,
    );
  });

  test("the token of an account in plain text is refused without being shown, next to one that is encrypted", () => {
    const ssh = "  proxmoxve:ssh: { password: { secure: v1:abc }, privateKey: hunter2 }\n";
    refused(file(good.replace("{ secure: v1:abc }", "hunter2") + ssh)).toThrow(
      /^(?!.*hunter2).* 2 faults:\n {2}hcloud:token: is in plain text: .*\n {2}proxmoxve:ssh\.privateKey: is in plain text: /s,
    );
  });

  test.each(["hetznerToken", "token"])("an account's token as our own key is refused with its place: %s", (key) => {
    const text = good.replace("platform: existing", "platform: hetzner");
    refused(file(`${text}  sluice:${key}: hunter2\n`)).toThrow(
      /^(?!.*hunter2).*: unknown key; the token of the account is encrypted in the provider's own key \('npm run pulumi -- config set --secret hcloud:token --stack <environment>'\) or in HCLOUD_TOKEN\. /s,
    );
  });

  test("a secret patch in plain text is refused without being shown", () => {
    const patches = "  sluice:secretPatches: [{ name: hunter2, patch: { machine: { token: hunter2 } } }]\n";
    refused(file(good + patches)).toThrow(/^(?!.*hunter2).* 2 faults:\n {2}secretPatches: is in plain text/s);
  });

  test("an encrypted value in a key that is not secret is refused", () => {
    refused(file(good.replace('"0815"', "{ secure: v1:abc }"))).toThrow(
      [
        "Pulumi.test.yaml has 1 fault:",
        "  clusterName: is encrypted, but it would not stay secret: set it in plain text, or move the secret part to secretPatches",
      ].join("\n"),
    );
  });
});
