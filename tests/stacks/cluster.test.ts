import { describe, expect, test } from "@jest/globals";
import { machineConfigurationArgs } from "../../components/talos/machineConfig.ts";
import { deployCluster } from "../../stacks/cluster.ts";
import { parseClusterConfig } from "../../stacks/config.ts";
import { machineConfigInput, machineNodes } from "../../stacks/machineConfigInput.ts";
import type { ClusterConfig } from "../../stacks/schema.ts";
import { type Recording, record, title, unwrap } from "../support/mocks.ts";
import { type Base, changed, rawConfig } from "../support/rawConfig.ts";
import {
  clientConfig,
  clientConfiguration,
  firstPreview,
  generator,
  machineSecrets,
  talosMocks,
} from "../support/talosMocks.ts";

/** Environments whose chain ends with the machine configs; tests/stacks/clusterGraph.test.ts has the whole one. */
const bases = ["home"] as const satisfies readonly Base[];
const configOf = (base: Base) => parseClusterConfig(rawConfig(base));
const deploy = (config: ClusterConfig) => () => deployCluster(config);
const updates = (config: ClusterConfig) => record(deploy(config), talosMocks);

describe("a cluster", () => {
  test.each(bases)("S3.1 is these resources and no others: %s", async (base) => {
    const config = configOf(base);
    const { clusterName, protect } = config;
    const { resources } = await updates(config);
    const none = { inputs: {}, ignoreChanges: [], additionalSecretOutputs: [], dependencies: [], parent: undefined };
    expect(resources).toEqual([
      { ...none, type: "sluice:talos:MachineSecrets", name: clusterName, protect },
      ...config.nodes
        .map((node) => `${clusterName}-${node.name}`)
        .sort()
        .map((name) => ({ ...none, type: "sluice:talos:NodeMachineConfig", name, protect: false })),
      {
        type: "talos:machine/secrets:Secrets",
        name: clusterName,
        parent: `sluice:talos:MachineSecrets ${clusterName}`,
        inputs: { talosVersion: expect.stringMatching(/^v1\.\d+$/) },
        protect,
        ignoreChanges: ["talosVersion"],
        additionalSecretOutputs: ["machineSecrets", "clientConfiguration"],
        dependencies: [],
      },
    ]);
  });

  test.each(bases)(
    "U2 is whole in the first preview already: no resource waits for another's output: %s",
    async (base) => {
      const preview = await record(deploy(configOf(base)), firstPreview);
      const update = await updates(configOf(base));
      expect(preview.resources).toEqual(update.resources);
      expect(preview.invokes).toEqual([]);
    },
  );

  test.each(bases)("U2 asks nothing but the two functions that need no cluster and no network: %s", async (base) => {
    const config = configOf(base);
    const { invokes } = await updates(config);
    expect(invokes.map(({ token }) => token)).toEqual([clientConfig, ...config.nodes.map(() => generator)]);
  });

  test.each(bases)(
    "S0.4 S2.1 has each node's config made from that node's patches and the one set of secrets: %s",
    async (base) => {
      const config = configOf(base);
      const { invokes } = await updates(config);
      const wanted = machineNodes(config).map((node) => ({
        token: generator,
        args: { ...machineConfigurationArgs(machineConfigInput(config), node), machineSecrets },
      }));
      const made = invokes.filter(({ token }) => token === generator);
      expect(made).toHaveLength(wanted.length);
      expect(made).toEqual(expect.arrayContaining(wanted));
    },
  );

  test("S4.4 has Talos clients connect to the control planes themselves, never to the VIP", async () => {
    const { invokes } = await updates(configOf("home"));
    expect(invokes.find(({ token }) => token === clientConfig)?.args).toEqual({
      clusterName: "home",
      clientConfiguration,
      endpoints: ["10.0.0.11", "10.0.0.12", "10.0.0.13"],
      nodes: ["10.0.0.11", "10.0.0.12", "10.0.0.13", "10.0.0.21", "10.0.0.22"],
    });
  });

  test("S4.2 gets a node more in the middle of the list and asks for every other node what it asked before", async () => {
    const raw = rawConfig("home");
    const nodes = raw.nodes as unknown[];
    const added = { name: "w-0", role: "worker", address: "10.0.0.30", vmId: 310 };
    const before = await updates(parseClusterConfig(raw));
    const after = await updates(parseClusterConfig({ ...raw, nodes: nodes.toSpliced(1, 0, added) }));
    const isNew = (value: unknown) => JSON.stringify(value).includes("w-0");
    expect(after.resources.filter((resource) => !isNew(resource))).toEqual(before.resources);
    expect(after.resources.filter(isNew).map(title)).toEqual(["sluice:talos:NodeMachineConfig home-w-0"]);
    expect(configsAsked(after).filter((args) => !isNew(args))).toEqual(configsAsked(before));
    expect(configsAsked(after).filter(isNew)).toHaveLength(1);
  });

  test.each([true, false])("U1 has its secrets protected as the environment says: %s", async (protect) => {
    const { resources } = await updates(parseClusterConfig(changed(rawConfig("home"), "protect", protect)));
    const guarded = resources.filter((resource) => resource.protect).map(title);
    expect(guarded).toEqual(protect ? ["sluice:talos:MachineSecrets home", "talos:machine/secrets:Secrets home"] : []);
  });
});

describe("the outputs of a cluster", () => {
  test("U1 are what a person needs to know, and are there in the first preview", async () => {
    const { result } = await record(deploy(configOf("home")), firstPreview);
    const { talosconfig, machineConfigurations, clientCertificateDaysLeft, ...known } = result;
    expect(await unwrap(clientCertificateDaysLeft)).toMatchObject({ known: false, secret: false });
    expect(known).toEqual({
      endpoint: "https://10.0.0.20:6443",
      schematicId: "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
      nodes: {
        "cp-1": { role: "controlplane", address: "10.0.0.11" },
        "cp-2": { role: "controlplane", address: "10.0.0.12" },
        "cp-3": { role: "controlplane", address: "10.0.0.13" },
        "w-1": { role: "worker", address: "10.0.0.21" },
        "w-2": { role: "worker", address: "10.0.0.22" },
      },
    });
    expect(Object.keys(machineConfigurations)).toEqual(["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
  });

  test("U1 say how long the client's certificate is still good for, which is no secret", async () => {
    const { result } = await updates(configOf("home"));
    const { secret, value } = await unwrap(result.clientCertificateDaysLeft);
    expect({ secret, isWhole: Number.isInteger(value) }).toEqual({ secret: false, isWhole: true });
  });

  test("U1 keep what opens the cluster secret: the talosconfig and each machine config", async () => {
    const { result } = await updates(configOf("home"));
    expect(await unwrap(result.talosconfig)).toEqual({ known: true, secret: true, value: "talosconfig of home" });
    const configs = await Promise.all(Object.values(result.machineConfigurations).map(unwrap));
    expect(configs.map(({ secret }) => secret)).toEqual(Array(5).fill(true));
    expect(configs.map(({ value }) => value)).toEqual([
      ...Array(3).fill("config of a controlplane"),
      ...Array(2).fill("config of a worker"),
    ]);
  });
});

function configsAsked({ invokes }: Recording<unknown>) {
  return invokes.filter(({ token }) => token === generator).map(({ args }) => args);
}
