import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../../../components/model/machine.ts";
import { AppliedMachineConfigs } from "../../../../components/talos/nodes/appliedMachineConfigs.ts";
import { Bootstrap } from "../../../../components/talos/nodes/bootstrap.ts";
import { standardRetry } from "../../../../components/waiting/retry.ts";
import { record } from "../../../support/mocks.ts";

const nodeType = "pulumi-nodejs:dynamic/talos:AppliedMachineConfig";
const credentials = { ca: "the ca", crt: "the crt", key: "the key" };

function machine(name: string): Machine {
  return {
    name,
    role: name.startsWith("cp") ? "controlplane" : "worker",
    address: `private ${name}`,
    talosAddress: pulumi.output(`public ${name}`),
    identity: pulumi.output({ mac: "02:00:00:00:00:01" }),
    machineId: pulumi.output(`id of ${name}`),
  };
}

const nodes = ["cp-1", "cp-2", "w-1"];

const make = (parallel: number | string) => () =>
  new AppliedMachineConfigs("home", {
    machines: nodes.map(machine),
    machineConfigurations: Object.fromEntries(nodes.map((name) => [name, pulumi.output(`config of ${name}`)])),
    contract: pulumi.output("v1.13"),
    credentials,
    parallel,
    retry: standardRetry,
    deadlineSeconds: 300,
    isInMaintenance: async (talosAddress, { key }) => talosAddress === "public w-1" && key === credentials.key,
    run: "this run",
  });

describe("the configurations of all nodes", () => {
  test("are one resource for each node, with config and credentials as secrets", async () => {
    const { resources } = await record(make(2));
    expect(resources.map(({ type, name }) => `${type} ${name}`)).toEqual([
      `${nodeType} home-cp-1`,
      `${nodeType} home-cp-2`,
      `${nodeType} home-w-1`,
      "sluice:talos:AppliedMachineConfigs home",
    ]);
    const [first] = resources;
    expect(first?.additionalSecretOutputs).toEqual(["machineConfiguration", "credentials", "found"]);
    expect(first?.parent).toBe("sluice:talos:AppliedMachineConfigs home");
    const { __provider: provider, ...inputs } = (first?.inputs ?? {}) as Record<string, unknown>;
    expect(inputs).toEqual({
      node: "cp-1",
      role: "controlplane",
      talosAddress: "public cp-1",
      address: "private cp-1",
      peers: [{ name: "cp-2", address: "private cp-2", talosAddress: "public cp-2" }],
      machineConfiguration: { secret: "config of cp-1" },
      contract: "v1.13",
      credentials: { secret: credentials },
      identity: { mac: "02:00:00:00:00:01" },
      machineId: "id of cp-1",
      retry: standardRetry,
      deadlineSeconds: 300,
      row: `urn:pulumi:test::sluice::sluice:talos:AppliedMachineConfigs$${nodeType}::home-cp-1`,
    });
    expect(provider).toContain('"components/talos/nodes/appliedMachineConfig.provider.ts"');
  });

  test("S1.6 know which nodes are in maintenance, and ask none in a preview", async () => {
    const seen = async (preview: boolean) =>
      (await record(make(2), { preview })).resources
        .filter(({ type }) => type === nodeType)
        .map(({ inputs }) => (inputs as { lostConfigIn?: string }).lostConfigIn);
    expect(await seen(false)).toEqual([undefined, undefined, "this run"]);
    expect(await seen(true)).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    [1, [[], ["home-cp-1"], ["home-cp-2"]]],
    [2, [[], [], ["home-cp-1"]]],
    ["100%", [[], [], []]],
  ])("S1.3 wait for each other in lanes, %j at the same time", async (parallel, expected) => {
    const { resources } = await record(make(parallel));
    const before = resources
      .filter(({ type }) => type === nodeType)
      .map(({ dependencies }) => dependencies.map((one) => one.replace(`${nodeType} `, "")));
    expect(before).toEqual(expected);
  });
});

test("a bootstrap has all control planes as inputs, and the credentials as a secret", async () => {
  const controlPlanes = [machine("cp-1")];
  const { resources } = await record(() => new Bootstrap("home", { controlPlanes, credentials, deadlineSeconds: 300 }));
  expect(resources).toHaveLength(1);
  const { __provider: provider, ...inputs } = (resources[0]?.inputs ?? {}) as Record<string, unknown>;
  expect(inputs).toEqual({
    controlPlanes: [{ name: "cp-1", talosAddress: "public cp-1", machineId: "id of cp-1" }],
    credentials: { secret: credentials },
    deadlineSeconds: 300,
    row: "urn:pulumi:test::sluice::pulumi-nodejs:dynamic/talos:Bootstrap::home",
  });
  expect(provider).toContain('"components/talos/nodes/bootstrap.provider.ts"');
  expect(resources[0]?.additionalSecretOutputs).toEqual(["credentials"]);
});
