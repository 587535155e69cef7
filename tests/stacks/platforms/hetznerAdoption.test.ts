// Which servers of a Hetzner project are the nodes of a cluster that others have made.
import { describe, expect, test } from "@jest/globals";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { type FoundProject, type FoundServer, hetznerFound } from "../../../stacks/platforms/hetznerAdoption.ts";
import type { HetznerConfig } from "../../../stacks/platforms/hetznerRules.ts";

const configOf = (hetzner: object = {}) =>
  parseClusterConfig({
    clusterName: "mine",
    platform: "hetzner",
    talosVersion: "1.13.8",
    kubernetesVersion: "1.36.4",
    endpoint: "api.example.org",
    nodes: [
      { name: "cp-1", role: "controlplane", address: "10.0.1.11" },
      { name: "w-1", role: "worker", address: "10.0.1.21" },
    ],
    network: { nodeCidr: "10.0.1.0/24" },
    hetzner: { networkCidr: "10.0.0.0/16", allowedCidrs: ["203.0.113.0/24"], placementGroups: false, ...hetzner },
  }) as unknown as HetznerConfig;

const server = (id: number, name: string, ip: string, more: Partial<FoundServer> = {}): FoundServer => ({
  id,
  name,
  labels: {},
  server_type: { name: name.startsWith("w") ? "cx43" : "cx33" },
  location: { name: "fsn1" },
  public_net: { ipv4: { ip: `198.51.100.${id}` }, firewalls: [{ id: 7 }] },
  private_net: [{ network: 5, ip, mac_address: `86:00:00:00:00:0${id}` }],
  placement_group: null,
  ...more,
});
const network = {
  id: 5,
  name: "theirs",
  ip_range: "10.0.0.0/16",
  subnets: [{ type: "cloud", ip_range: "10.0.1.0/24", network_zone: "eu-central" }],
};
const cp1 = server(1, "master", "10.0.1.11");
const w1 = server(2, "w-1", "10.0.1.21");
const project: FoundProject = { servers: [cp1, w1], networks: [network], load_balancers: [] };

describe("the servers of a running cluster (S7.2)", () => {
  test("are found by their names or private addresses, with all that the program would create", () => {
    const { machines, resources, faults } = hetznerFound(configOf(), project, {});
    expect(faults).toEqual([]);
    expect(machines.byNode).toEqual({
      "cp-1": {
        talosAddress: "198.51.100.1",
        identity: { mac: "86:00:00:00:00:01" },
        machineId: "1",
        providerId: "hcloud://1",
      },
      "w-1": {
        talosAddress: "198.51.100.2",
        identity: { mac: "86:00:00:00:00:02" },
        machineId: "2",
        providerId: "hcloud://2",
      },
    });
    expect(resources.map(({ type, name, id }) => `${type.split(":").at(-1)} ${name} ${id}`)).toEqual([
      "Network mine-network 5",
      "NetworkSubnet mine-subnet 5-10.0.1.0/24",
      "Firewall mine-apis 7",
      "Server mine-cp-1 1",
      "Server mine-w-1 2",
    ]);
  });

  test.each(["1", "master"])("are those that the user names, by %s", (chosen) => {
    const other = server(3, "mine-cp-1", "10.0.1.13");
    const { machines } = hetznerFound(configOf(), { ...project, servers: [other, cp1, w1] }, { "cp-1": chosen });
    expect(machines.byNode["cp-1"]?.machineId).toBe("1");
  });

  test("have their placement groups, if each group is one that the program would make", () => {
    const grouped = [cp1, w1].map((one) => ({ ...one, placement_group: { id: 20 + one.id, name: "" } }));
    const { resources, faults } = hetznerFound(
      configOf({ placementGroups: true }),
      { ...project, servers: grouped },
      {},
    );
    expect(faults).toEqual([]);
    const groups = resources.filter(({ type }) => type.endsWith(":PlacementGroup"));
    expect(groups.map(({ name, id }) => `${name} ${id}`)).toEqual([
      "mine-spread-10-0-1-10 21",
      "mine-spread-10-0-1-20 22",
    ]);
  });

  test("have the load balancer that is at the listed address of their network", () => {
    const balancer = {
      id: 9,
      name: "theirs",
      public_net: { ipv4: { ip: "203.0.113.9" } },
      private_net: [{ network: 5, ip: "10.0.1.5" }],
      services: [{ listen_port: 443 }, { listen_port: 6443 }],
    };
    const { resources, machines } = hetznerFound(
      configOf({ loadBalancer: { address: "10.0.1.5", public: true } }),
      { ...project, load_balancers: [balancer] },
      {},
    );
    expect(machines.publicAddress).toBe("203.0.113.9");
    expect(resources.filter(({ name }) => name === "mine-api").map(({ id }) => id)).toEqual(["9", "9-5", "9__6443"]);
  });

  test.each<[string, Partial<FoundProject>, object, string]>([
    ["none fits a node", { servers: [w1] }, {}, "cp-1: no server of the project is called mine-cp-1 or cp-1"],
    ["several have the address", { servers: [cp1, server(4, "twin", "10.0.1.11"), w1] }, {}, "cp-1: several servers"],
    [
      "one is in no private network",
      { servers: [{ ...cp1, name: "cp-1", private_net: [] }, w1] },
      {},
      "cp-1: its server is in no private network",
    ],
    [
      "one has another address",
      { servers: [server(1, "cp-1", "10.0.1.99"), w1] },
      {},
      "cp-1: its private addresses are 10.0.1.99, and not 10.0.1.11",
    ],
    [
      "one is in a further network, from which the first up would detach it",
      { servers: [{ ...cp1, private_net: [...cp1.private_net, { network: 6, ip: "10.9.0.1" }] }, w1] },
      {},
      "cp-1: its server has also 10.9.0.1",
    ],
    [
      "one has alias addresses",
      { servers: [{ ...cp1, private_net: cp1.private_net.map((one) => ({ ...one, alias_ips: ["10.0.1.99"] })) }, w1] },
      {},
      "cp-1: its server has the alias addresses 10.0.1.99",
    ],
    [
      "the network has another range",
      {},
      { networkCidr: undefined },
      "network theirs: its range is 10.0.0.0/16, and not 10.0.1.0/24",
    ],
    ["one has another type", {}, { serverTypes: { worker: "cx23" } }, "w-1: its type is cx43, and not cx23"],
    ["one is elsewhere", {}, { location: "nbg1" }, "cp-1: it is in fsn1, and not in nbg1"],
    [
      "they are in no placement group",
      {},
      { placementGroups: true },
      "cp-1: the servers are not together in one placement group",
    ],
    [
      "they have several firewalls",
      { servers: [{ ...cp1, public_net: { ...cp1.public_net, firewalls: [{ id: 8 }] } }, w1] },
      {},
      "firewalls: the servers have 2: 8, 7",
    ],
  ])("are refused if %s, with the key that says otherwise", (_, change, hetzner, fault) => {
    const { faults } = hetznerFound(configOf(hetzner), { ...project, ...change }, {});
    expect(faults.map(({ where, seen }) => `${where}: ${seen}`)).toContainEqual(expect.stringContaining(fault));
    for (const { remedy } of faults) expect(remedy).toMatch(/\w/);
  });

  test("get a firewall by the next up if they have none, which is announced", () => {
    const open = [cp1, w1].map((one) => ({ ...one, public_net: { ...one.public_net, firewalls: [] } }));
    expect(hetznerFound(configOf(), { ...project, servers: open }, {}).notes).toEqual([
      expect.stringMatching(/^a firewall that admits hetzner\.allowedCidrs/),
    ]);
  });
});
