import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { machineConfigurationArgs } from "../../components/talos/generate/machineConfig.ts";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config/config.ts";
import { machineNodes } from "../../stacks/machineConfigInput.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { type MockOptions, type Recording, record, title, unwrap } from "../support/mocks.ts";
import { newMachineConfigInput } from "../support/newMachineConfigInput.ts";
import { proxmoxApiToken, proxmoxState } from "../support/proxmoxMocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";
import {
  clientConfig,
  clientConfiguration,
  firstPreview,
  generator,
  machineSecrets,
  talosMocks,
} from "../support/talosMocks.ts";

const bases = ["home", "existing"] as const satisfies readonly Base[];
const configOf = (base: Base) => parseClusterConfig(rawConfig(base));
const deploy = (config: ClusterConfig) => () => deployCluster(config);
const made: MockOptions = {
  ...talosMocks,
  state: (resource) =>
    (resource.type.startsWith("proxmoxve:") ? proxmoxState : talosMocks.state)?.(resource) ?? resource.inputs,
};
const updates = (config: ClusterConfig) => record(deploy(config), made);

const token = process.env.PROXMOX_VE_API_TOKEN;
beforeAll(() => {
  process.env.PROXMOX_VE_API_TOKEN = proxmoxApiToken;
});
afterAll(() => {
  if (token === undefined) delete process.env.PROXMOX_VE_API_TOKEN;
  else process.env.PROXMOX_VE_API_TOKEN = token;
});

describe("a cluster", () => {
  test.each(bases)("S3.1 a cluster has one set of secrets, and a config for each node: %s", async (base) => {
    const config = configOf(base);
    const { clusterName, protect } = config;
    const { resources: all } = await updates(config);
    const resources = all
      .filter(({ type }) => /MachineSecrets|GeneratedMachineConfig|machine\/secrets/.test(type))
      // A component has no dependencies; its children may have some.
      .map((resource) => ({ ...resource, dependencies: [] }));
    const bare = { dependencies: [], deleteBeforeReplace: false };
    const none = { ...bare, inputs: {}, ignoreChanges: [], additionalSecretOutputs: [], parent: undefined };
    expect(resources).toEqual([
      ...config.nodes
        .map((node) => `${clusterName}-${node.name}`)
        .sort()
        .map((name) => ({ ...none, type: "sluice:talos:GeneratedMachineConfig", name, protect: false })),
      { ...none, type: "sluice:talos:MachineSecrets", name: clusterName, protect },
      {
        type: "talos:machine/secrets:Secrets",
        name: clusterName,
        parent: `sluice:talos:MachineSecrets ${clusterName}`,
        inputs: { talosVersion: expect.stringMatching(/^v1\.\d+$/) },
        protect,
        ignoreChanges: ["talosVersion"],
        additionalSecretOutputs: ["machineSecrets", "clientConfiguration"],
        ...bare,
      },
    ]);
  });

  test.each(bases)(
    "U2 a cluster invokes only the two functions that need no cluster and no network: %s",
    async (base) => {
      const config = configOf(base);
      const { invokes } = await updates(config);
      expect(invokes.map(({ token }) => token)).toEqual([clientConfig, ...config.nodes.map(() => generator)]);
    },
  );

  // What platforms add is in their own tests.
  test.each(["existing"] as const)(
    "S0.4 S2.1 each node's config is generated from its own patches and the one set of secrets: %s",
    async (base) => {
      const config = configOf(base);
      const { invokes } = await updates(config);
      const wanted = machineNodes(config).map((node) => ({
        token: generator,
        args: { ...machineConfigurationArgs(newMachineConfigInput(config), node), machineSecrets },
      }));
      const made = invokes.filter(({ token }) => token === generator);
      expect(made).toHaveLength(wanted.length);
      expect(made).toEqual(expect.arrayContaining(wanted));
    },
  );

  const contractIn = (recorded: string): MockOptions => ({
    ...made,
    state: (resource) =>
      resource.type.endsWith(":ConfigContract")
        ? { ...resource.inputs, contract: recorded }
        : (made.state?.(resource) ?? resource.inputs),
  });
  const contracts = ({ resources, invokes }: Recording<unknown>) => ({
    recorded: resources
      .filter(({ type }) => type.endsWith(":ConfigContract"))
      .map(({ inputs, ignoreChanges }) => [(inputs as Record<string, unknown>).contract, ignoreChanges]),
    generated: new Set(invokes.filter(({ token }) => token === generator).map(({ args }) => args.talosVersion)),
  });

  test("S8.1 a cluster keeps the contract in its state, whatever Talos version it runs", async () => {
    const config = parseClusterConfig(changed(rawConfig("existing"), "talosVersion", "1.13.8"));
    const { recorded, generated } = contracts(await record(deploy(config), contractIn("v1.11")));
    expect(recorded).toEqual([["v1.13", ["contract"]]]);
    expect(generated).toEqual(new Set(["v1.11"]));
  });

  test("S8.1 a contract that is asked for replaces the one in the state", async () => {
    const config = parseClusterConfig({ ...rawConfig("existing"), talosVersion: "1.13.8", configContract: "v1.12" });
    const { recorded, generated } = contracts(await updates(config));
    expect(recorded).toEqual([["v1.12", []]]);
    expect(generated).toEqual(new Set(["v1.12"]));
  });

  test("S4.4 Talos clients connect to the control planes, never to the VIP", async () => {
    const { invokes } = await updates(configOf("home"));
    expect(invokes.find(({ token }) => token === clientConfig)?.args).toEqual({
      clusterName: "home",
      clientConfiguration,
      endpoints: ["10.0.0.11", "10.0.0.12", "10.0.0.13"],
      nodes: ["10.0.0.11", "10.0.0.12", "10.0.0.13", "10.0.0.21", "10.0.0.22"],
    });
  });

  test("S4.2 a node added in the middle of the list changes nothing for any other node", async () => {
    const raw = rawConfig("home");
    const nodes = raw.nodes as unknown[];
    const added = { name: "w-0", role: "worker", address: "10.0.0.30", vmId: 310 };
    const before = await updates(parseClusterConfig(raw));
    const after = await updates(parseClusterConfig({ ...raw, nodes: nodes.toSpliced(1, 0, added) }));
    const isNew = (value: unknown) => JSON.stringify(value).includes("w-0");
    // Gates have all nodes among their inputs, and configs are sent to one node after another.
    const ofMachines = ({ resources }: Recording<unknown>) =>
      resources.filter(({ type }) => /VmLegacy|File|images|machines:Proxmox|GeneratedMachineConfig/.test(type));
    expect(ofMachines(after).filter((resource) => !isNew(resource))).toEqual(ofMachines(before));
    expect(ofMachines(after).filter(isNew).map(title)).toEqual([
      "proxmoxve:download/file:File home-image-w-0",
      "proxmoxve:index/vmLegacy:VmLegacy home-w-0",
      "pulumi-nodejs:dynamic/images:FactorySchematic home-image-w-0",
      "sluice:talos:GeneratedMachineConfig home-w-0",
    ]);
    expect(configsAsked(after).filter((args) => !isNew(args))).toEqual(configsAsked(before));
    expect(configsAsked(after).filter(isNew)).toHaveLength(1);
  });

  test.each([true, false])("U1 machine secrets are protected as the environment sets: %s", async (protect) => {
    const { resources } = await updates(parseClusterConfig(changed(rawConfig("existing"), "protect", protect)));
    const guarded = resources.filter((resource) => resource.protect).map(title);
    const { clusterName } = configOf("existing");
    expect(guarded).toEqual(
      protect ? [`sluice:talos:MachineSecrets ${clusterName}`, `talos:machine/secrets:Secrets ${clusterName}`] : [],
    );
  });
});

describe("the outputs of a cluster", () => {
  test("U1 the outputs of a cluster are known in the first preview, as far as they can be", async () => {
    const { result } = await record(deploy(configOf("existing")), firstPreview);
    const { schematicId, nodes, clientCertificateDaysLeft } = result;
    expect(await unwrap(clientCertificateDaysLeft)).toMatchObject({ known: false, secret: false });
    expect(schematicId).toBe("376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba");
    expect(nodes).toMatchObject({
      "cp-1": { role: "controlplane", address: "10.0.0.11" },
      "w-1": { role: "worker", address: "10.0.0.21" },
    });
  });

  test("S4.4 the outputs name the endpoint of the Kubernetes API", async () => {
    const { result } = await updates(configOf("existing"));
    expect((await unwrap(pulumi.output(result.endpoint))).value).toBe("https://10.0.0.11:6443");
  });

  test("U1 the outputs show how long the client certificate is still valid, which is no secret", async () => {
    const { result } = await updates(configOf("home"));
    const { secret, value } = await unwrap(result.clientCertificateDaysLeft);
    expect({ secret, isWhole: Number.isInteger(value) }).toEqual({ secret: false, isWhole: true });
  });

  test("U1 the talosconfig is a secret output", async () => {
    const { result } = await updates(configOf("home"));
    expect(await unwrap(result.talosconfig)).toEqual({ known: true, secret: true, value: "talosconfig of home" });
  });

  test("S10.2 no machine config is an output of the stack: the state has it with the resource that sends it", async () => {
    const { result } = await updates(configOf("home"));
    expect(Object.keys(result)).not.toContain("machineConfigurations");
  });
});

function configsAsked({ invokes }: Recording<unknown>) {
  return invokes.filter(({ token }) => token === generator).map(({ args }) => args);
}
