import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { isSecretName, providerSecretFaults } from "../../../stacks/config/providerSecrets.ts";

const root = `${import.meta.dirname}/../../..`;
const faults = (values: Readonly<Record<string, unknown>>, encrypted: readonly string[] = []) =>
  providerSecretFaults(values, (key) => encrypted.includes(key)).map(({ path }) => path);

describe("U1 a provider's secret in plain text", () => {
  test("is refused with the command that encrypts it, and not shown", () => {
    expect(providerSecretFaults({ "hcloud:token": "hunter2" }, () => false)).toEqual([
      {
        path: "hcloud:token",
        message:
          "is in plain text: encrypt it with 'npm run pulumi -- config set --secret hcloud:token --stack <environment>', and renew it if others could read the file",
      },
    ]);
  });

  test("is refused inside a map or a list, with the command for its path", () => {
    const ssh = { username: "root", password: "hunter2", nodes: [{ name: "pve", privateKey: "hunter2" }] };
    const found = providerSecretFaults({ "proxmoxve:ssh": ssh }, () => false);
    expect(found.map(({ path }) => path)).toEqual(["proxmoxve:ssh.password", "proxmoxve:ssh.nodes[0].privateKey"]);
    expect(found[0]?.message).toContain(
      "`npm run pulumi -- config set --secret --path 'proxmoxve:ssh.password' --stack <environment>`",
    );
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });

  test("is refused as the engine passes maps, as JSON", () => {
    expect(faults({ "proxmoxve:ssh": '{"password":"hunter2"}' })).toEqual(["proxmoxve:ssh.password"]);
  });

  test("is refused beside one that is encrypted", () => {
    const ssh = { password: { secure: "v1:abc" }, privateKey: "hunter2" };
    expect(faults({ "proxmoxve:ssh": ssh })).toEqual(["proxmoxve:ssh.privateKey"]);
  });

  test.each([
    ["hcloud:token"],
    ["proxmoxve:apiToken"],
    ["proxmoxve:password"],
    ["proxmoxve:otp"],
    ["proxmoxve:authTicket"],
    ["proxmoxve:csrfPreventionToken"],
    ["cloudflare:apiKey"],
    ["aws:secretKey"],
    ["github:token"],
    ["tls:privateKey"],
  ])("is refused in %s", (key) => {
    expect(faults({ [key]: "0123" })).toEqual([key]);
    expect(faults({ [key]: 123 })).toEqual([key]);
  });

  test.each([
    ["an encrypted one", { "hcloud:token": { secure: "v1:abc" } }],
    ["an empty one", { "hcloud:token": "" }],
    ["the name of a user", { "proxmoxve:username": "root@pam" }],
    ["a path to a key", { "proxmoxve:ssh": { agentSocket: "/run/agent" }, "aws:sharedCredentialsFile": "~/.aws" }],
    ["the path of a kubeconfig", { "kubernetes:kubeconfig": "~/.kube/config" }],
    ["an address and a flag", { "proxmoxve:endpoint": "https://pve:8006", "proxmoxve:insecure": "true" }],
  ])("is not found in %s", (_what, values) => {
    expect(faults(values)).toEqual([]);
  });

  test("is not found if the engine marks the key as encrypted", () => {
    expect(faults({ "hcloud:token": "decrypted by the engine" }, ["hcloud:token"])).toEqual([]);
  });

  test.each(["apiVersion: v1\nusers: []\n", '{"users":[]}'])("is refused as the text of a kubeconfig: %j", (text) => {
    expect(faults({ "kubernetes:kubeconfig": text })).toEqual(["kubernetes:kubeconfig"]);
  });
});

// The providers' own types do not mark secrets, so their settings are listed here.
test("U1 every setting of the providers that the program uses is classified as secret or not", () => {
  const settings = ["@pulumi/hcloud", "@muhlba91/pulumi-proxmoxve", "@pulumi/kubernetes"].flatMap((sdk) => {
    const text = readFileSync(`${root}/node_modules/${sdk}/provider.d.ts`, "utf8");
    const args = text.slice(text.indexOf("ProviderArgs {"));
    return [...args.matchAll(/^ {4}(\w+)\?:/gm)].map(([, name = ""]) => name);
  });
  expect(settings.length).toBeGreaterThan(20);
  expect([...new Set(settings.filter(isSecretName))].sort()).toEqual([
    "apiToken",
    "authTicket",
    "csrfPreventionToken",
    "kubeconfig",
    "otp",
    "password",
    "token",
  ]);
});
