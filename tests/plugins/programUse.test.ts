import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { usedMembers, usedProperties } from "./support/programUse.ts";
import { loadProgram } from "./support/sdk.ts";

const file = join(import.meta.dirname, "support/sampleProgram.ts");
const program = loadProgram([file]);

test("classes and functions of the SDKs are found however they are imported, renamed, extended or called", () => {
  expect([...usedMembers(program, [file]).keys()]).toEqual([
    "pulumi:providers:hcloud",
    "hcloud:index/network:Network",
    "hcloud:index/server:Server",
    "hcloud:index/sshKey:SshKey",
    "hcloud:index/getImage:getImage",
    "command:local:run",
    "talos:machine/secrets:Secrets",
    "talos:client/getConfiguration:getConfiguration",
  ]);
});

test("properties of an SDK are found where they are passed, read, destructured, or named in options and types", () => {
  expect([...usedProperties(program, [file], "talos")].sort()).toEqual([
    "client.GetConfigurationOutputArgs.clientConfiguration",
    "client.GetConfigurationOutputArgs.clusterName",
    "client.GetConfigurationResult.nodes",
    "client.GetConfigurationResult.talosConfig",
    "machine.BootstrapArgs.node",
    "machine.Secrets.clientConfiguration",
    "machine.Secrets.machineSecrets",
    "machine.SecretsArgs.talosVersion",
    "types.input.client.GetConfigurationClientConfigurationArgs.caCertificate",
    "types.input.client.GetConfigurationClientConfigurationArgs.clientCertificate",
    "types.input.client.GetConfigurationClientConfigurationArgs.clientKey",
    "types.output.machine.ClientConfiguration.clientKey",
  ]);
});
