import { describe, expect, test } from "@jest/globals";
import * as pulumi from "@pulumi/pulumi";
import { HetznerMachines, type HetznerMachinesArgs } from "../../../../components/machines/hetzner/hetznerMachines.ts";
import { type MockOptions, record, title, unwrap } from "../../../support/mocks.ts";

const args: Omit<HetznerMachinesArgs, "guard"> = {
  clusterName: "dev",
  nodes: [
    { name: "cp-1", role: "controlplane", address: "10.0.1.11" },
    { name: "w-1", role: "worker", address: "10.0.1.21", serverType: "cx53", location: "nbg1" },
  ],
  nodeCidr: "10.0.1.0/24",
  networkCidr: "10.0.0.0/16",
  networkZone: "eu-central",
  location: "fsn1",
  serverTypes: { controlplane: "cx33", worker: "cx43" },
  allowedCidrs: ["192.0.2.0/24", "198.51.100.7/32"],
  loadBalancer: { address: "10.0.1.5", type: "lb11", public: false },
  image: "42",
  protect: false,
  placementGroups: true,
};

const addresses: Readonly<Record<string, string>> = { "dev-cp-1": "203.0.113.1", "dev-w-1": "203.0.113.2" };
const state: MockOptions["state"] = ({ type, inputs, name }) => {
  if (type === "hcloud:index/loadBalancer:LoadBalancer") return { ...inputs, ipv4: "203.0.113.9" };
  if (type !== "hcloud:index/server:Server") return inputs;
  const networks = inputs.networks.map((network: object) => ({
    ...network,
    macAddress: `86:00:00:00:00:${name.slice(-1)}`,
  }));
  return { ...inputs, ipv4Address: addresses[name], networks };
};
const make = (changes: Partial<HetznerMachinesArgs> = {}, options: MockOptions = {}) =>
  record(() => new HetznerMachines("dev", { ...args, guard: guard(), ...changes }), { state, ...options });
/** In the place of the resource that allows a change of a server. */
const guardType = "test:machines:Guard";
const guard = () => new (class extends pulumi.CustomResource {})(guardType, "dev", {});

async function inputsOf(wanted: string, changes?: Partial<HetznerMachinesArgs>): Promise<unknown> {
  const { resources } = await make(changes);
  return resources.find((resource) => title(resource) === wanted)?.inputs;
}

const labels = { cluster: "dev" };

describe("the machines of a Hetzner cluster", () => {
  test("S3.1 are these resources and no others", async () => {
    const { resources } = await make();
    expect(resources.filter(({ type }) => type !== guardType).map(title)).toEqual([
      "hcloud:index/firewall:Firewall dev-apis",
      "hcloud:index/loadBalancer:LoadBalancer dev-api",
      "hcloud:index/loadBalancerNetwork:LoadBalancerNetwork dev-api",
      "hcloud:index/loadBalancerService:LoadBalancerService dev-api",
      "hcloud:index/loadBalancerTarget:LoadBalancerTarget dev-api",
      "hcloud:index/network:Network dev-network",
      "hcloud:index/networkSubnet:NetworkSubnet dev-subnet",
      "hcloud:index/placementGroup:PlacementGroup dev-spread-10-0-1-10",
      "hcloud:index/placementGroup:PlacementGroup dev-spread-10-0-1-20",
      "hcloud:index/server:Server dev-cp-1",
      "hcloud:index/server:Server dev-w-1",
      "sluice:machines:HetznerMachines dev",
    ]);
  });

  test("S0.1 start from the snapshot, in the private network with their own address, behind the firewall from the first moment", async () => {
    expect(await inputsOf("hcloud:index/server:Server dev-cp-1")).toEqual({
      name: "dev-cp-1",
      serverType: "cx33",
      location: "fsn1",
      image: "42",
      labels: { cluster: "dev", node: "cp-1", role: "controlplane" },
      firewallIds: [Number.NaN], // Hetzner's are numbers, a mock's are not: the dependencies show what they belong to
      placementGroupId: Number.NaN,
      networks: [{ subnetId: "dev-subnet-id", ip: "10.0.1.11", aliasIps: [] }],
      deleteProtection: false,
      rebuildProtection: false,
    });
  });

  test("S0.1 are created after the network, firewall and groups that they are placed in", async () => {
    const { resources } = await make();
    const server = resources.find((resource) => title(resource) === "hcloud:index/server:Server dev-w-1");
    expect(server?.dependencies).toEqual(
      expect.arrayContaining([
        "hcloud:index/firewall:Firewall dev-apis",
        "hcloud:index/networkSubnet:NetworkSubnet dev-subnet",
        "hcloud:index/placementGroup:PlacementGroup dev-spread-10-0-1-20",
      ]),
    );
  });

  test("S1.3 are changed only after the check that etcd keeps its quorum", async () => {
    const { resources } = await make();
    const servers = resources.filter(({ type }) => type === "hcloud:index/server:Server");
    for (const { dependencies } of servers) expect(dependencies).toContain(`${guardType} dev`);
  });

  test("S1 have the type and the location of their entry", async () => {
    const server = await inputsOf("hcloud:index/server:Server dev-w-1");
    expect(server).toMatchObject({ serverType: "cx53", location: "nbg1", labels: { node: "w-1", role: "worker" } });
  });

  test("U1 are not replaced for another image or other user data", async () => {
    const { resources } = await make();
    const servers = resources.filter(({ type }) => type === "hcloud:index/server:Server");
    expect(servers.map(({ ignoreChanges }) => ignoreChanges)).toEqual(Array(2).fill(["image", "userData"]));
  });

  test("S4.2 are deleted before another one gets their name and address", async () => {
    const { resources } = await make();
    const servers = resources.filter(({ type }) => type === "hcloud:index/server:Server");
    expect(servers.map(({ deleteBeforeReplace }) => deleteBeforeReplace)).toEqual([true, true]);
  });

  test("S0.1 allow only the configured ranges, and only to the APIs of Talos and Kubernetes", async () => {
    const rule = { direction: "in", protocol: "tcp", sourceIps: ["192.0.2.0/24", "198.51.100.7/32"] };
    expect(await inputsOf("hcloud:index/firewall:Firewall dev-apis")).toEqual({
      name: "dev-apis",
      labels,
      rules: [
        { ...rule, port: "50000", description: "Talos API" },
        { ...rule, port: "6443", description: "Kubernetes API" },
      ],
    });
  });

  test("S2.4 have a network with the node range as its subnet", async () => {
    expect(await inputsOf("hcloud:index/network:Network dev-network")).toEqual({
      name: "dev",
      ipRange: "10.0.0.0/16",
      labels,
      deleteProtection: false,
    });
    expect(await inputsOf("hcloud:index/networkSubnet:NetworkSubnet dev-subnet")).toMatchObject({
      type: "cloud",
      networkZone: "eu-central",
      ipRange: "10.0.1.0/24",
    });
    const alone = await inputsOf("hcloud:index/network:Network dev-network", { networkCidr: undefined });
    expect(alone).toMatchObject({ ipRange: "10.0.1.0/24" });
  });

  test("S4.2 change no other when they are added in the middle of the list [C12]", async () => {
    const added = { name: "w-0", role: "worker", address: "10.0.1.29" } as const;
    const before = await make();
    const after = await make({ nodes: args.nodes.toSpliced(1, 0, added) });
    const isNew = (resource: { name: string }) => resource.name === "dev-w-0";
    expect(after.resources.filter((resource) => !isNew(resource))).toEqual(before.resources);
    expect(after.resources.filter(isNew).map(title)).toEqual(["hcloud:index/server:Server dev-w-0"]);
  });

  test.each([true, false])("U1 are protected here and at Hetzner as the environment says: %s", async (protect) => {
    const { resources } = await make({ protect });
    const children = resources.filter(({ parent }) => parent !== undefined);
    expect(children.map((child) => child.protect)).toEqual(children.map(() => protect));
    const guards = resources.flatMap(({ inputs }) => (inputs as { deleteProtection?: boolean }).deleteProtection ?? []);
    expect(guards).toEqual(Array(4).fill(protect)); // two servers, the network, the load balancer
  });

  test("S0.2 are reached by their public address, and identified by the MAC of their private NIC and the server's id", async () => {
    const { result } = await make();
    expect(result.machines.map(({ name, role, address }) => ({ name, role, address }))).toEqual([
      { name: "cp-1", role: "controlplane", address: "10.0.1.11" },
      { name: "w-1", role: "worker", address: "10.0.1.21" },
    ]);
    const [first] = result.machines;
    if (first === undefined) throw new Error("no machine");
    expect(await unwrap(first.talosAddress)).toMatchObject({ value: "203.0.113.1" });
    expect(await unwrap(first.identity)).toMatchObject({ value: { mac: "86:00:00:00:00:1" } });
    expect(await unwrap(first.machineId)).toMatchObject({ value: "dev-cp-1-id" });
  });

  test("U2 are unknown in the first preview, which calls no API", async () => {
    const { result, invokes } = await make({}, { preview: true, state: ({ inputs }) => inputs });
    expect(invokes).toEqual([]);
    for (const machine of result.machines) expect(await unwrap(machine.talosAddress)).toMatchObject({ known: false });
  });
});

describe("the load balancer", () => {
  test("S3.2 forwards to the control planes whose API answers, by their private addresses", async () => {
    expect(await inputsOf("hcloud:index/loadBalancerService:LoadBalancerService dev-api")).toEqual({
      loadBalancerId: "dev-api-id",
      protocol: "tcp",
      listenPort: 6443,
      destinationPort: 6443,
      healthCheck: { protocol: "tcp", port: 6443, interval: 5, timeout: 5, retries: 2 },
    });
    expect(await inputsOf("hcloud:index/loadBalancerTarget:LoadBalancerTarget dev-api")).toMatchObject({
      type: "label_selector",
      labelSelector: "cluster=dev,role=controlplane",
      usePrivateIp: true,
    });
  });

  test("S1.7 is changed by one resource after another, because Hetzner locks it meanwhile", async () => {
    const { resources } = await make();
    const dependencies = (name: string) =>
      resources
        .find(({ type }) => type.endsWith(`:${name}`))
        ?.dependencies.filter((on) => !on.includes("Network dev-n"));
    expect(dependencies("LoadBalancerService")).toContain(
      "hcloud:index/loadBalancerNetwork:LoadBalancerNetwork dev-api",
    );
    expect(dependencies("LoadBalancerTarget")).toContain(
      "hcloud:index/loadBalancerService:LoadBalancerService dev-api",
    );
  });

  test.each([
    [false, undefined],
    [true, "203.0.113.9"],
  ])("S0.1 has a public address only if configured: %s", async (isPublic, address) => {
    const changes = { loadBalancer: { address: "10.0.1.5", type: "lb11", public: isPublic } };
    expect(await inputsOf("hcloud:index/loadBalancerNetwork:LoadBalancerNetwork dev-api", changes)).toMatchObject({
      subnetId: "dev-subnet-id",
      ip: "10.0.1.5",
      enablePublicInterface: isPublic,
    });
    const { result } = await make(changes);
    expect(result.publicApi && (await unwrap(result.publicApi)).value).toBe(address);
  });

  test("S3.1 is absent if none is configured", async () => {
    const { resources, result } = await make({ loadBalancer: undefined });
    expect(resources.filter(({ type }) => type.includes("oadBalancer"))).toEqual([]);
    expect(result.publicApi).toBeUndefined();
  });
});
