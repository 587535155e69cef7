import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  type AddressPlanArgs,
  addressPlan,
  derivedMac,
  isUnicastMac,
} from "../../../components/network/addressPlan.ts";
import { anyAddress, anyCidr } from "./ipv4.ts";

const anyName = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const anyNode = fc.record(
  {
    name: anyName,
    role: fc.constantFrom("controlplane" as const, "worker" as const),
    address: anyAddress,
    mac: fc.constantFrom("02:00:00:00:00:0a", "52:54:00:12:34:56"),
    uuid: fc.uuid(),
    vmId: fc.integer({ min: 100, max: 999 }),
  },
  { requiredKeys: ["name", "role", "address"] },
);
const anyNodes = fc.uniqueArray(anyNode, { selector: (node) => node.name, minLength: 1, maxLength: 8 });
const anyCluster: fc.Arbitrary<AddressPlanArgs> = fc.record({
  clusterName: anyName,
  platform: fc.record({ choosesMacs: fc.boolean() }),
  network: fc.record({ nodeCidr: anyCidr, gateway: anyAddress }, { requiredKeys: ["nodeCidr"] }),
  nodes: anyNodes,
});

const byName = (args: AddressPlanArgs) => new Map(addressPlan(args).map((entry) => [entry.name, entry]));

describe("S4.1 the home cluster's plan", () => {
  const home: AddressPlanArgs = {
    clusterName: "home",
    platform: { choosesMacs: true },
    network: { nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1" },
    nodes: [
      { name: "cp-1", role: "controlplane", address: "10.0.0.11", vmId: 300 },
      { name: "w-1", role: "worker", address: "10.0.0.21", vmId: 303, mac: "52:54:00:12:34:56" },
    ],
  };

  test("S4.2 has for each node what is derived from its entry", () => {
    expect(addressPlan(home)).toEqual([
      {
        name: "cp-1",
        role: "controlplane",
        address: "10.0.0.11",
        prefixLength: 16,
        gateway: "10.0.0.1",
        mac: "02:68:39:ad:f0:7c",
        uuid: undefined,
        vmId: 300,
      },
      {
        name: "w-1",
        role: "worker",
        address: "10.0.0.21",
        prefixLength: 16,
        gateway: "10.0.0.1",
        mac: "52:54:00:12:34:56",
        uuid: undefined,
        vmId: 303,
      },
    ]);
  });

  test("S4.2 derives no MAC on a platform whose machines have their own", () => {
    const platform = { choosesMacs: false };
    expect(addressPlan({ ...home, platform }).map(({ mac }) => mac)).toEqual([undefined, "52:54:00:12:34:56"]);
  });
});

describe("S4.2 the other nodes of any cluster stay unchanged", () => {
  test("when the list is reordered [C12]", () => {
    const permuted = anyCluster.chain((args) =>
      fc.tuple(fc.constant(args), fc.shuffledSubarray([...args.nodes], { minLength: args.nodes.length })),
    );
    fc.assert(fc.property(permuted, ([args, nodes]) => expect(byName({ ...args, nodes })).toEqual(byName(args))));
  });

  test("when a node is inserted", () => {
    fc.assert(
      fc.property(anyCluster, anyNode, fc.nat(8), (args, added, position) => {
        fc.pre(args.nodes.every(({ name }) => name !== added.name));
        const plan = byName({ ...args, nodes: args.nodes.toSpliced(position, 0, added) });
        expect(plan.delete(added.name)).toBe(true);
        expect(plan).toEqual(byName(args));
      }),
    );
  });

  test("when a node is removed [C12]", () => {
    fc.assert(
      fc.property(anyCluster, fc.nat(7), (args, position) => {
        const plan = byName(args);
        const removed = args.nodes[position % args.nodes.length];
        plan.delete(removed?.name ?? "");
        expect(byName({ ...args, nodes: args.nodes.filter((node) => node !== removed) })).toEqual(plan);
      }),
    );
  });

  test("when a node gets another address, role or VM id", () => {
    fc.assert(
      fc.property(anyCluster, anyNode, fc.nat(7), (args, changes, position) => {
        const index = position % args.nodes.length;
        const name = args.nodes[index]?.name ?? "";
        const plan = byName({ ...args, nodes: args.nodes.with(index, { ...changes, name }) });
        const before = byName(args);
        expect(plan.delete(name) && before.delete(name)).toBe(true);
        expect(plan).toEqual(before);
      }),
    );
  });
});

describe("S4.1 a derived MAC", () => {
  test("of any names is a locally administered unicast address", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (clusterName, nodeName) => {
        const mac = derivedMac(clusterName, nodeName);
        expect(mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
        const first = Number.parseInt(mac.slice(0, 2), 16);
        expect({ group: first & 1, local: first & 2 }).toEqual({ group: 0, local: 2 });
        expect(isUnicastMac(mac)).toBe(true);
      }),
    );
  });

  test("differs for any two nodes of any two clusters", () => {
    fc.assert(
      fc.property(anyName, anyName, anyName, anyName, (cluster, node, otherCluster, otherNode) => {
        const same = cluster === otherCluster && node === otherNode;
        expect(derivedMac(cluster, node) === derivedMac(otherCluster, otherNode)).toBe(same);
      }),
    );
  });

  test("depends on both names and nothing else", () => {
    fc.assert(
      fc.property(anyCluster, (args) => {
        for (const { name, mac } of addressPlan({ ...args, platform: { choosesMacs: true } })) {
          const own = args.nodes.find((node) => node.name === name)?.mac;
          expect(mac).toBe(own ?? derivedMac(args.clusterName, name));
        }
      }),
    );
  });
});

test.each([
  ["02:00:00:00:00:0a", true],
  ["52:54:00:12:34:56", true],
  ["01:00:5e:00:00:0a", false],
  ["ff:ff:ff:ff:ff:ff", false],
  ["00:00:00:00:00:00", false],
])("S2.4 the MAC %s names a single interface: %s", (mac, expected) => {
  expect(isUnicastMac(mac)).toBe(expected);
});
