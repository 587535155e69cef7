import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../../components/machines/machine.ts";
import { Bootstrap } from "../../../components/talos/bootstrap.ts";
import { NodeConfigurations } from "../../../components/talos/nodeConfigurations.ts";
import { standardRetry } from "../../../components/talos/retry.ts";
import { record } from "../../support/mocks.ts";

const nodeType = "pulumi-nodejs:dynamic/talos:NodeConfiguration";
const credentials = { ca: "the ca", crt: "the crt", key: "the key" };

function machine(name: string): Machine {
  return {
    name,
    role: name.startsWith("cp") ? "controlplane" : "worker",
    address: `private ${name}`,
    reach: pulumi.output(`public ${name}`),
    identity: pulumi.output({ mac: "02:00:00:00:00:01" }),
    machineId: pulumi.output(`id of ${name}`),
  };
}

const nodes = ["cp-1", "cp-2", "w-1"];

const make = (parallel: number | string) => () =>
  new NodeConfigurations("home", {
    machines: nodes.map(machine),
    machineConfigurations: Object.fromEntries(nodes.map((name) => [name, pulumi.output(`config of ${name}`)])),
    credentials,
    parallel,
    retry: standardRetry,
    deadline: 300,
  });

describe("the configurations of all nodes", () => {
  test("are one resource a node, with config and credentials as secrets", async () => {
    const { resources } = await record(make(2));
    expect(resources.map(({ type, name }) => `${type} ${name}`)).toEqual([
      `${nodeType} home-cp-1`,
      `${nodeType} home-cp-2`,
      `${nodeType} home-w-1`,
      "sluice:talos:NodeConfigurations home",
    ]);
    const [first] = resources;
    expect(first?.additionalSecretOutputs).toEqual(["machineConfiguration", "credentials", "found"]);
    expect(first?.parent).toBe("sluice:talos:NodeConfigurations home");
    const { __provider: provider, ...inputs } = (first?.inputs ?? {}) as Record<string, unknown>;
    expect(inputs).toEqual({
      node: "cp-1",
      role: "controlplane",
      endpoint: "public cp-1",
      address: "private cp-1",
      peers: [{ node: "cp-2", address: "private cp-2", endpoint: "public cp-2" }],
      machineConfiguration: { secret: "config of cp-1" },
      credentials: { secret: credentials },
      identity: { mac: "02:00:00:00:00:01" },
      machineId: "id of cp-1",
      retry: standardRetry,
      deadline: 300,
      row: `urn:pulumi:test::sluice::sluice:talos:NodeConfigurations$${nodeType}::home-cp-1`,
    });
    expect(provider).toContain("/components/talos/applyConfiguration.ts");
  });

  test.each([
    [1, [[], ["home-cp-1"], ["home-cp-2"]]],
    [2, [[], [], ["home-cp-1"]]],
    ["100%", [[], [], []]],
  ])("S1.3 wait for each other in lanes, %j at once", async (parallel, expected) => {
    const { resources } = await record(make(parallel));
    const before = resources
      .filter(({ type }) => type === nodeType)
      .map(({ dependencies }) => dependencies.map((one) => one.replace(`${nodeType} `, "")));
    expect(before).toEqual(expected);
  });
});

test("a bootstrap knows all control planes, and keeps the credentials secret", async () => {
  const controlPlanes = [machine("cp-1")];
  const { resources } = await record(() => new Bootstrap("home", { controlPlanes, credentials, deadline: 300 }));
  expect(resources).toHaveLength(1);
  const { __provider: provider, ...inputs } = (resources[0]?.inputs ?? {}) as Record<string, unknown>;
  expect(inputs).toEqual({
    controlPlanes: [{ node: "cp-1", endpoint: "public cp-1", machineId: "id of cp-1" }],
    credentials: { secret: credentials },
    deadline: 300,
    row: "urn:pulumi:test::sluice::pulumi-nodejs:dynamic/talos:Bootstrap::home",
  });
  expect(provider).toContain("/components/talos/bootstrapCluster.ts");
  expect(resources[0]?.additionalSecretOutputs).toEqual(["credentials"]);
});
