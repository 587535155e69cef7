import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { toPlugin } from "../../../components/talos/secrets/secretsBundle.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { clientEndpoint } from "../../../stacks/endpoint.ts";
import { deployMachines } from "../../../stacks/machines.ts";
import { proxmoxToken } from "../../../stacks/platforms/proxmoxToken.ts";
import { type MockOptions, record, title, unwrap } from "../../support/mocks.ts";
import { proxmoxState, proxmoxApiToken as secret, vmType } from "../../support/proxmoxMocks.ts";
import { changed, rawConfig } from "../../support/rawConfig.ts";
import { secretsBundle } from "../../support/secretsFixture.ts";

const config = (changes: Record<string, unknown> = {}) =>
  parseClusterConfig(
    Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("home")),
  );
/** The machines of the environment with these changes. */
const machines = async (changes?: Record<string, unknown>) => {
  const given = config(changes);
  return deployMachines(given, await given.platform.resources(given), secrets());
};
const deploy = (changes?: Record<string, unknown>, options: MockOptions = {}) =>
  record(() => machines(changes), { state: proxmoxState, ...options });
const credentials = () => pulumi.secret({ ca: "the-ca", crt: "the-crt", key: "the-key" });
const secrets = () => ({ credentials: credentials(), machineSecrets: pulumi.secret(toPlugin(secretsBundle)) });

const { PROXMOX_VE_API_TOKEN, IMAGE_FACTORY_ENDPOINT } = process.env;
beforeEach(() => {
  process.env.PROXMOX_VE_API_TOKEN = secret;
  delete process.env.IMAGE_FACTORY_ENDPOINT;
});
afterEach(() => {
  pulumi.runtime.setAllConfig({});
  for (const [name, value] of Object.entries({ PROXMOX_VE_API_TOKEN, IMAGE_FACTORY_ENDPOINT })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

async function vms(changes?: Record<string, unknown>) {
  const { resources } = await deploy(changes);
  return resources.filter(({ type }) => type === vmType).map(({ inputs }) => inputs as Record<string, never>);
}

describe("the platform Proxmox", () => {
  test("S4.1 the worked example has five VMs, each with its id and the MAC of the documented rule", async () => {
    const made = await vms();
    expect(made.map(({ name, vmId }) => [name, vmId])).toEqual([
      ["home-cp-1", 300],
      ["home-cp-2", 301],
      ["home-cp-3", 302],
      ["home-w-1", 303],
      ["home-w-2", 304],
    ]);
    expect(made[0]).toMatchObject({ networkDevices: [{ macAddress: "02:68:39:AD:F0:7C" }], nodeName: "pve" });
    expect(made[3]).toMatchObject({ cpu: { cores: 8 }, memory: { dedicated: 16384 } });
  });

  test("S4.1 a VM has the size of its node's entry", async () => {
    const [, , , worker] = await vms({ "nodes[3].size": { memory: 4096 } });
    expect(worker).toMatchObject({ cpu: { cores: 8 }, memory: { dedicated: 4096 }, disks: [{ size: 100 }] });
  });

  test("S4.1 VMs are spread over the hosts", async () => {
    const made = await vms({ "proxmox.hosts": ["a", "b", "c"] });
    const [one, two, three] = made.map(({ nodeName }) => nodeName);
    expect(new Set([one, two, three]).size).toBe(3);
  });

  test.each([
    ["meta", 5, undefined],
    ["nocloud", 1, { address: "10.0.0.11/16", gateway: "10.0.0.1" }],
  ])("S4.3 each VM has its address on its first boot: %s", async (addressing, images, ipv4) => {
    const { resources } = await deploy({ "network.addressing": addressing });
    expect(resources.filter(({ type }) => type === "proxmoxve:download/file:File")).toHaveLength(images);
    const seeds = resources
      .filter(({ type }) => type === vmType)
      .map(({ inputs }) => (inputs as { initialization?: { ipConfigs: unknown } }).initialization);
    expect(seeds[0]?.ipConfigs).toEqual(ipv4 && [{ ipv4 }]);
  });

  test.each([
    [{ "network.addressing": "dhcp" }, 5],
    [{ "network.addressing": "dhcp", "proxmox.vm": { agent: false }, "image.extensions": [] }, 0],
    [{}, 0],
  ])("S4.3 addresses are looked up if they come from DHCP and there is an agent: %j", async (changes, count) => {
    const { resources } = await deploy(changes);
    expect(resources.filter(({ type }) => type.endsWith(":ProxmoxAddress"))).toHaveLength(count);
  });

  test("S2.4 network cards are in the VLAN in mode access, and not if the node tags", async () => {
    const [port] = await vms({ "network.vlan": { tag: 20, mode: "access" } });
    expect(port).toMatchObject({ networkDevices: [{ vlanId: 20 }] });
    const [trunk] = await vms({ "network.vlan": { tag: 20, mode: "trunk" } });
    expect(trunk?.networkDevices).toEqual([expect.not.objectContaining({ vlanId: 20 })]);
  });

  test.each([
    ["the endpoint that is named", { endpoint: "k8s.example.org" }, "k8s.example.org"],
    ["the VIP", {}, "10.0.0.20"],
    ["the only control plane", { "network.vip": undefined }, "10.0.0.11"],
  ])("S4.4 the published address of the Kubernetes API is %s", async (_, changes, expected) => {
    const { nodes } = rawConfig("home") as { nodes: unknown[] };
    const some = "network.vip" in changes ? [nodes[0], nodes[3]] : nodes.toReversed();
    const { result } = await deploy({ nodes: some, ...changes });
    expect(await unwrap(clientEndpoint(config({ nodes: some, ...changes }), result))).toMatchObject({
      value: expected,
    });
  });

  test("S2.1 each node has the id and the host of its VM in Kubernetes", async () => {
    const { result } = await deploy();
    const [patches] = await Promise.all(Object.values(result.patches).map(unwrap));
    expect(patches?.value).toEqual([
      {
        machine: {
          nodeLabels: { "topology.kubernetes.io/region": "proxmox", "topology.kubernetes.io/zone": "pve" },
          kubelet: { extraArgs: { "provider-id": "proxmox://proxmox/300" } },
        },
      },
    ]);
  });

  test("S4.1 the account for volumes is created if there are volumes", async () => {
    const accounts = async (changes?: Record<string, unknown>) =>
      (await deploy(changes)).resources.filter(({ type }) => type === "sluice:machines:ProxmoxCsiAccess");
    expect(await accounts()).toHaveLength(1);
    expect(await accounts({ csi: { enabled: false } })).toEqual([]);
  });

  test("S4.1 U1 the provider uses the environment's API with a token only", async () => {
    const { resources } = await deploy();
    const provider = resources.find((resource) => title(resource) === "pulumi:providers:proxmoxve home-proxmox");
    expect(provider?.inputs).toEqual({
      apiToken: { secret },
      endpoint: "https://10.0.0.2:8006",
      insecure: "true",
    });
  });
});

describe("the token", () => {
  const lab = { name: "home" };
  const tokenOf = async (of: { name: string } | undefined, preview: boolean) => {
    const { result } = await record(() => proxmoxToken({ lab: of }), { preview });
    return { value: (await unwrap(result.value)).value, isPlaceholder: result.isPlaceholder };
  };

  test("U1 the token for Proxmox is the provider's own key, else the environment variable", async () => {
    expect(await tokenOf(undefined, false)).toEqual({ value: secret, isPlaceholder: false });
    const other = secret.replace("test", "own");
    pulumi.runtime.setAllConfig({ "proxmoxve:apiToken": other }, ["proxmoxve:apiToken"]);
    expect(await tokenOf(undefined, false)).toEqual({ value: other, isPlaceholder: false });
  });

  test("U2 a preview needs no token and keeps that of the state", async () => {
    delete process.env.PROXMOX_VE_API_TOKEN;
    const { resources } = await deploy({}, { preview: true });
    const provider = resources.find(({ type }) => type === "pulumi:providers:proxmoxve");
    expect(provider).toMatchObject({
      inputs: { apiToken: { secret: expect.stringMatching(/^preview@pve!/) } },
      ignoreChanges: ["apiToken"],
    });
  });

  test("U1 a missing token is reported in an update, with what to do", async () => {
    delete process.env.PROXMOX_VE_API_TOKEN;
    await expect(deploy()).rejects.toThrow(/^no token for Proxmox: set PROXMOX_VE_API_TOKEN /);
  });

  test("U1 a token in another form is refused without being shown", async () => {
    process.env.PROXMOX_VE_API_TOKEN = "the-password";
    const refusal = await tokenOf(undefined, false).catch(String);
    expect(refusal).toContain("is not of the form <user>@<realm>!<name>=<secret>");
    expect(refusal).not.toContain("the-password");
  });

  test("U1 on a lab the token is the lab's inside it, and no account's outside it", async () => {
    await expect(tokenOf(lab, false)).rejects.toThrow(
      "this environment runs on the lab 'home', and this command runs outside it",
    );
    expect(await tokenOf(lab, true)).toMatchObject({ isPlaceholder: true });
    // A mirror of the Image Factory is not a lab.
    process.env.IMAGE_FACTORY_ENDPOINT = "https://mirror.example.org";
    await expect(tokenOf(lab, false)).rejects.toThrow("and this command runs outside it");
    process.env.IMAGE_FACTORY_ENDPOINT = "http://192.0.2.20";
    expect(await tokenOf(lab, false)).toEqual({ value: secret, isPlaceholder: false });
  });
});
