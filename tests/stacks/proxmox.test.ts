import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { parseClusterConfig } from "../../stacks/config.ts";
import { deployProxmox } from "../../stacks/proxmox.ts";
import { proxmoxToken } from "../../stacks/proxmoxToken.ts";
import { type MockOptions, record, title, unwrap } from "../support/mocks.ts";
import { proxmoxState, proxmoxApiToken as secret, vmType } from "../support/proxmoxMocks.ts";
import { changed, rawConfig } from "../support/rawConfig.ts";

const config = (changes: Record<string, unknown> = {}) =>
  parseClusterConfig(
    Object.entries(changes).reduce((raw, [path, value]) => changed(raw, path, value), rawConfig("home")),
  );
const deploy = (changes?: Record<string, unknown>, options: MockOptions = {}) =>
  record(() => deployProxmox(config(changes), credentials()), { state: proxmoxState, ...options });
const credentials = () => pulumi.secret({ ca: "the-ca", crt: "the-crt", key: "the-key" });

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
  test("S4.1 makes the five VMs of the worked example, each with its id and the MAC of the documented rule", async () => {
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

  test("S4.1 gives a node the size that its entry says", async () => {
    const [, , , worker] = await vms({ "nodes[3].size": { memory: 4096 } });
    expect(worker).toMatchObject({ cpu: { cores: 8 }, memory: { dedicated: 4096 }, disks: [{ size: 100 }] });
  });

  test("S4.1 spreads the nodes over the hosts", async () => {
    const made = await vms({ "proxmox.hosts": ["a", "b", "c"] });
    const [one, two, three] = made.map(({ nodeName }) => nodeName);
    expect(new Set([one, two, three]).size).toBe(3);
  });

  test.each([
    ["meta", 5, undefined],
    ["nocloud", 1, { address: "10.0.0.11/16", gateway: "10.0.0.1" }],
  ])("S4.3 has each VM know its address on its first boot: %s", async (addressing, images, ipv4) => {
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
  ])("S4.3 looks for addresses where they come by DHCP and the agent can tell: %j", async (changes, count) => {
    const { resources } = await deploy(changes);
    expect(resources.filter(({ type }) => type.endsWith(":ProxmoxAddress"))).toHaveLength(count);
  });

  test("S2.4 puts ports into a VLAN in mode access, and none where the node tags", async () => {
    const [port] = await vms({ "network.vlan": { tag: 20, mode: "access" } });
    expect(port).toMatchObject({ networkDevices: [{ vlanId: 20 }] });
    const [trunk] = await vms({ "network.vlan": { tag: 20, mode: "trunk" } });
    expect(trunk?.networkDevices).toEqual([expect.not.objectContaining({ vlanId: 20 })]);
  });

  test.each([
    ["the endpoint that is named", { endpoint: "k8s.example.org" }, "k8s.example.org"],
    ["the VIP", {}, "10.0.0.20"],
    ["the only control plane", { "network.vip": undefined }, "10.0.0.11"],
  ])("S4.4 hands out an address of the Kubernetes API: %s", async (_, changes, expected) => {
    const { nodes } = rawConfig("home") as { nodes: unknown[] };
    const some = "network.vip" in changes ? [nodes[0], nodes[3]] : nodes.toReversed();
    const { result } = await deploy({ nodes: some, ...changes });
    expect(await unwrap(result.endpoint)).toMatchObject({ value: expected });
  });

  test("S2.1 has Kubernetes know which VM each node is, and on which host it is", async () => {
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

  test("S4.1 makes the account for volumes where there are any", async () => {
    expect((await deploy()).result.proxmoxCsi).toMatchObject({ endpoint: "https://10.0.0.2:8006", region: "proxmox" });
    expect((await deploy({ csi: { enabled: false } })).result.proxmoxCsi).toBeUndefined();
  });

  test("S4.1 U1 talks to the API of the environment with the token alone", async () => {
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
    return { value: (await unwrap(result.value)).value, isStandIn: result.isStandIn };
  };

  test("U1 is the environment's variable, and the provider's own key before that", async () => {
    expect(await tokenOf(undefined, false)).toEqual({ value: secret, isStandIn: false });
    const other = secret.replace("test", "own");
    pulumi.runtime.setAllConfig({ "proxmoxve:apiToken": other }, ["proxmoxve:apiToken"]);
    expect(await tokenOf(undefined, false)).toEqual({ value: other, isStandIn: false });
  });

  test("U2 is not needed for a preview, which keeps what the state has", async () => {
    delete process.env.PROXMOX_VE_API_TOKEN;
    const { resources } = await deploy({}, { preview: true });
    const provider = resources.find(({ type }) => type === "pulumi:providers:proxmoxve");
    expect(provider).toMatchObject({
      inputs: { apiToken: { secret: expect.stringMatching(/^preview@pve!/) } },
      ignoreChanges: ["apiToken"],
    });
  });

  test("U1 that is missing in an update is told, with what to do", async () => {
    delete process.env.PROXMOX_VE_API_TOKEN;
    await expect(deploy()).rejects.toThrow(/^no token for Proxmox: set PROXMOX_VE_API_TOKEN /);
  });

  test("U1 that is none is refused, and stands in no message", async () => {
    process.env.PROXMOX_VE_API_TOKEN = "the-password";
    const { result } = await record(() => proxmoxToken({ lab: undefined }));
    const refusal = await unwrap(result.value).catch(String);
    expect(refusal).toContain("is not of the form <user>@<realm>!<name>=<secret>");
    expect(refusal).not.toContain("the-password");
  });

  test("U1 of an environment on a lab is the lab's inside of it, and no account's outside", async () => {
    await expect(tokenOf(lab, false)).rejects.toThrow("this environment runs on the lab 'home', and this is not in it");
    expect(await tokenOf(lab, true)).toMatchObject({ isStandIn: true });
    // A mirror of one's own makes no lab.
    process.env.IMAGE_FACTORY_ENDPOINT = "https://mirror.example.org";
    await expect(tokenOf(lab, false)).rejects.toThrow("and this is not in it");
    process.env.IMAGE_FACTORY_ENDPOINT = "http://192.0.2.20";
    expect(await tokenOf(lab, false)).toEqual({ value: secret, isStandIn: false });
  });
});
