// A fourth platform consists of the files in tests/fixtures/toyPlatform, and one line in each of the two lists of platforms (docs/architecture.md).
import { globSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import type { MachineEntries } from "../../components/lifecycle/changePlan.ts";
import type { Setting } from "../../scripts/tools/settings/listSettings.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import { toyPlatform } from "../fixtures/toyPlatform/components/machines/toy/toyPlatform.ts";
import { toy } from "../fixtures/toyPlatform/stacks/platforms/toy.ts";

/** The two lists of platforms, each with one more line. */
async function register(): Promise<void> {
  const { machinePlatforms } = await import("../../components/machines/platforms.ts");
  const { platforms } = await import("../../stacks/platforms/registry.ts");
  const all = [...platforms, toy];
  jest.resetModules();
  jest.unstable_mockModule("../../components/machines/platforms.ts", () => ({
    machinePlatforms: [...machinePlatforms, toyPlatform],
  }));
  jest.unstable_mockModule("../../stacks/platforms/registry.ts", () => ({ platforms: all, allPlatforms: all }));
}

const raw = {
  clusterName: "toys",
  platform: "toy",
  talosVersion: "1.12.6",
  kubernetesVersion: "1.35.4",
  endpoint: "api.example.org",
  nodes: [
    { name: "cp-1", role: "controlplane", address: "10.0.0.11" },
    { name: "w-1", role: "worker", address: "10.0.0.21", flavor: "large" },
  ],
  network: { nodeCidr: "10.0.0.0/24" },
  toy: { region: "attic" },
  flux: { url: "https://git.example.org/toys.git" },
};

let parse: (values: Record<string, unknown>) => ClusterConfig;
beforeAll(async () => {
  await register();
  ({ parseClusterConfig: parse } = await import("../../stacks/config/config.ts"));
});
afterAll(() => {
  jest.resetModules();
});

const faultsOf = (values: Record<string, unknown>) => {
  try {
    parse(values);
    return [];
  } catch (error) {
    return (error as { faults: readonly { path: string; message: string }[] }).faults.map(
      ({ path, message }) => `${path}: ${message}`,
    );
  }
};

test("a fourth platform takes at most eight files, two of which are lists that get a line", () => {
  expect(globSync("tests/fixtures/toyPlatform/**/*.ts")).toHaveLength(8 - 2);
});

describe("an environment of a fourth platform", () => {
  test("is read with the platform's own section, keys of nodes and rules", () => {
    const { platform, settings, nodes } = parse(raw);
    expect(platform.name).toBe("toy");
    expect(settings).toEqual({ region: "attic", volumes: true });
    expect(nodes.map((node) => Object.entries(node).find(([key]) => key === "flavor")?.[1])).toEqual([
      "small",
      "large",
    ]);
    const [first, second] = raw.nodes;
    expect(faultsOf({ ...raw, nodes: [first, { ...second, flavor: "huge", mac: "02:00:00:00:00:0a" }] })).toEqual([
      "nodes[1].mac: the toy cloud assigns MACs: remove it",
      "nodes[1].flavor: is huge, must be small or large",
    ]);
    expect(faultsOf({ ...raw, platform: "toys" })).toContainEqual(
      expect.stringContaining("'hetzner', 'proxmox', 'existing' or 'toy', got \"toys\" - did you mean 'toy'?"),
    );
    expect(faultsOf({ ...raw, toy: undefined })).toEqual([expect.stringMatching(/^toy\.region: is missing/)]);
    expect(faultsOf({ ...raw, platform: "existing" })).toEqual([
      "toy: is for platform 'toy', but platform is 'existing': remove it",
      ...[0, 1].map((node) => `nodes[${node}].flavor: is for platform 'toy', but platform is 'existing': remove it`),
    ]);
  });

  test("is refused settings that the platform's network does not support", () => {
    const [services, network] = [{ announce: "cilium" }, { ...raw.network, vip: "10.0.0.5" }];
    expect(faultsOf({ ...raw, services, network })).toEqual([
      "network.vip: the toy cloud carries no ARP",
      "services.announce: the toy cloud carries no ARP",
    ]);
  });

  test("has its keys in the tables of settings, with its name if no other platform reads them", async () => {
    const { listSettings } = await import("../../scripts/tools/settings/listSettings.ts");
    const platformsOf = ({ platforms }: Setting) => platforms?.map(({ title }) => title);
    const settings = new Map(listSettings(["nodes", "toy", "network"]).map((one) => [one.key, one]));
    expect(settings.has("toy.region")).toBe(true);
    const [flavor, vip] = ["nodes[].flavor", "network.vip"].map((key) => settings.get(key));
    expect(flavor && platformsOf(flavor)).toEqual(["the toy cloud"]);
    expect(vip && platformsOf(vip)).not.toContain("the toy cloud");
  });
});

describe("the machine config of a node on a fourth platform", () => {
  test("has the platform's image, names of NICs and cloud controller", async () => {
    const { machineNodes } = await import("../../stacks/machineConfigInput.ts");
    const { newMachineConfigInput } = await import("../support/newMachineConfigInput.ts");
    const { machineConfigurationArgs } = await import("../../components/talos/generate/machineConfig.ts");
    const config = parse(raw);
    const [node] = machineNodes(config);
    if (node === undefined) throw new Error("there is no node");
    const { configPatches, clusterEndpoint } = machineConfigurationArgs(newMachineConfigInput(config), node);
    expect(clusterEndpoint).toBe("https://api.example.org:6443");
    expect(configPatches.join("---\n")).toContain("image: factory.talos.dev/toycloud-installer/");
    expect(configPatches).toContain("apiVersion: v1alpha1\nkind: DHCPv4Config\nname: lan0\n");
    expect(configPatches).toContain("cluster:\n  externalCloudProvider:\n    enabled: true\n");
  });
});

describe("the chain of a fourth platform", () => {
  test("has every stage and gate in order, the guard before its machines, and the software that it installs", async () => {
    const { deployCluster } = await import("../../stacks/cluster.ts");
    const { record } = await import("../support/mocks.ts");
    const { platformMocks } = await import("../support/platformMocks.ts");
    const { bootstrap, chainOf, ground, quorumGuard } = await import("./clusterChain.ts");
    const { graphFaults } = await import("./clusterGraphFaults.ts");
    const config = parse(raw);
    const deployed = await record(() => deployCluster(config), platformMocks);
    const chain = chainOf(config, {
      machines: ["sluice:machines:ToyMachines"],
      cloudController: "sluice:platform:ToyController",
      volumes: "sluice:platform:ToyCsi",
    });
    expect(chain).toHaveLength(12);
    expect(graphFaults(deployed, chain, { ground, clusterIs: `${bootstrap} toys` })).toEqual([]);
    const machines = deployed.resources.filter(({ type }) => type === "toy:index:Machine");
    expect(machines.map(({ dependencies }) => dependencies)).toEqual(Array(2).fill([`${quorumGuard} toys`]));
    const guard = deployed.resources.find(({ type }) => type === quorumGuard);
    expect(guard?.inputs).toMatchObject({
      place: { kind: "toy", cluster: "toys", region: "attic" },
      machines: { "w-1": { role: "worker", address: "10.0.0.21", flavor: "large" } },
    });
  });
});

describe("the guard of the quorum on a fourth platform", () => {
  test("looks up its current machines, and reports what a change of their traits does", async () => {
    const { currentMachines } = await import("../../components/machines/currentMachines.ts");
    const { operations } = await import("../../components/machines/quorumGuard.provider.ts");
    const place = { kind: "toy" };
    const entries: MachineEntries = { "cp-1": { role: "controlplane", address: "10.0.0.11", flavor: "small" } };
    expect(await currentMachines({ place, entries })).toEqual({
      "cp-1": { talosAddress: "10.0.0.11", flavor: "small" },
    });
    const inputs = {
      place,
      hasFixedAddresses: false,
      credentials: { ca: "", crt: "", key: "" },
      deadlineSeconds: 1,
      row: "",
    };
    const olds = { ...inputs, machines: entries, open: [], found: {}, drift: [] };
    const larger = { "cp-1": { role: "controlplane", address: "10.0.0.11", flavor: "large" } } as const;
    const notes = operations.notes(olds, { ...inputs, machines: larger });
    expect(notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^cp-1 .* flavor: small -> large$/),
      "no backup is taken before that: backup is not configured, or backup.beforeChanges is false",
    ]);
  });
});
