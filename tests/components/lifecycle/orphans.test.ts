import { describe, expect, test } from "@jest/globals";
import { type CreatedResource, keyOf } from "../../../components/lifecycle/createdResource.ts";
import { type ExportedResource, findOrphans } from "../../../components/lifecycle/orphans.ts";

const component = "sluice:machines:CloudMachines";
const urn = (type: string, name: string) => `urn:pulumi:dev::sluice::${component}$${type}::${name}`;
const created = "2026-11-19T10:00:00Z";

const network: CreatedResource = {
  type: "cloud:index:Network",
  part: "network",
  id: "1",
  title: "network dev (id 1)",
  created,
  isRoot: true,
  isUsed: false,
  within: [],
  removal: "delete 1",
};
const part: CreatedResource = {
  ...network,
  type: "cloud:index:Subnet",
  part: "subnet",
  id: "1-10.0.1.0/24",
  isRoot: false,
  isUnmarked: true,
  within: [keyOf(network)],
};
const firewall: CreatedResource = { ...network, type: "cloud:index:Firewall", part: "apis", id: "2", isRoot: false };
const server: CreatedResource = {
  ...network,
  type: "cloud:index:Server",
  part: "cp-1",
  id: "3",
  isRoot: false,
  isUsed: true,
  within: [keyOf(network)],
  uses: [keyOf(part), keyOf(firewall)],
};

const parent = { type: component, urn: `urn:pulumi:dev::sluice::${component}::dev`, created: "2026-11-19T09:59:00Z" };
const provider = {
  type: "pulumi:providers:cloud",
  urn: "urn:pulumi:dev::sluice::pulumi:providers:cloud::dev-cloud",
  id: "p",
};
const none = [parent, provider];

/** Its entry in the state. */
function kept({ type, part: name, id }: CreatedResource, more: object = {}): ExportedResource {
  return { type, id, urn: urn(type, `dev-${name}`), provider: `${provider.urn}::p`, ...more };
}

/** The names of those that are adopted, and the reasons for those that are not. */
function compared(resources: readonly CreatedResource[], state: readonly object[], pending: readonly object[] = []) {
  const { adopted, doubted } = findOrphans(
    { component, resources, blockers: [] },
    {
      resources: state as ExportedResource[],
      pending: pending as ExportedResource[],
    },
  );
  return {
    adopted: adopted.map(({ orphan }) => orphan.part),
    doubted: Object.fromEntries(doubted.map(({ orphan, reason }) => [orphan.part, reason])),
  };
}

const elsewhere = "it may belong to a cluster of the same name in another state";
const nothing = "the state of this environment has nothing of its kind";
const pendingOf = ({ type, part: name }: CreatedResource) => ({
  type: "creating",
  resource: { urn: urn(type, `dev-${name}`) },
});

describe("what exists on a platform and is in no state (S5.3)", () => {
  test.each<[string, CreatedResource[], object[], object[], string[], Record<string, string>]>([
    ["is nothing where the state has all of it", [network, server], [...none, kept(network), kept(server)], [], [], {}],
    [
      "is adopted with a server in a network that the state has",
      [network, server],
      [...none, kept(network)],
      [],
      ["cp-1"],
      {},
    ],
    [
      "is adopted with a server that is in no network yet, beside a network that the state has",
      [network, { ...server, within: [] }],
      [...none, kept(network)],
      [],
      ["cp-1"],
      {},
    ],
    [
      "is left alone with a server in the network of someone else",
      [network, { ...server, within: ["cloud:index:Network 99"] }],
      [...none, kept(network)],
      [],
      [],
      { "cp-1": elsewhere },
    ],
    ["is adopted with an unused network that is younger than the stack", [network], none, [], ["network"], {}],
    [
      "is left alone with an unused network that is older than the stack",
      [{ ...network, created: "2026-11-19T09:00:00Z" }],
      none,
      [],
      [],
      { network: elsewhere },
    ],
    [
      "is left alone with a network, and all in it, that someone uses",
      [{ ...network, isUsed: true }, part, server],
      none,
      [],
      [],
      { network: elsewhere, subnet: elsewhere, "cp-1": elsewhere },
    ],
    [
      "is adopted, whoever uses it, where a killed run of this stack had started to create it",
      [{ ...network, isUsed: true }],
      none,
      [pendingOf(network)],
      ["network"],
      {},
    ],
    [
      "is adopted with what is in an adopted network, after the network",
      [server, part, network],
      none,
      [],
      ["network", "subnet", "cp-1"],
      {},
    ],
    [
      "is left alone where the state has another one in its place",
      [network, server],
      [...none, kept(network), kept(server, { id: "8" })],
      [],
      [],
      { "cp-1": "the state has another one in its place, with id 8" },
    ],
    [
      "is adopted where the one in its place is about to be deleted",
      [network, server],
      [...none, kept(network), kept(server, { id: "8", delete: true })],
      [],
      ["cp-1"],
      {},
    ],
    [
      "is not even reported with another subnet that somebody added to the cluster's network",
      [network, { ...part, id: "1-10.0.9.0/24" }],
      [...none, kept(network), kept(part)],
      [],
      [],
      {},
    ],
    ["is left alone where the state is empty", [network], [], [], [], { network: nothing }],
    ["is left alone where the state has no provider for it", [network], [parent], [], [], { network: nothing }],
  ])("%s", (_, resources, state, pending, adopted, doubted) => {
    expect(compared(resources, state, pending)).toEqual({ adopted, doubted });
  });

  test.each([
    ["in a run", "2026-11-19T09:59:50Z", "2026-11-19T10:00:10Z", ["network"]],
    ["before all runs", "2026-11-19T10:01:00Z", "2026-11-19T10:02:00Z", []],
    ["after all runs", "2026-11-19T09:50:00Z", "2026-11-19T09:59:00Z", []],
  ])("is adopted, whoever uses it, if it was created in a run of this stack: %s", (_, began, ended, adopted) => {
    const runs = [{ began: Date.parse(began), ended: Date.parse(ended) }];
    const state = { resources: none, pending: [], runs };
    const found = findOrphans({ component, resources: [{ ...network, isUsed: true }], blockers: [] }, state);
    expect(found.adopted.map(({ orphan }) => orphan.part)).toEqual(adopted);
  });

  test("gets an entry in the state with its parent, provider and what is deleted after it, as protected as its parent", () => {
    const state = [{ ...parent, protect: true }, provider, kept(network), kept(part)] as ExportedResource[];
    const { adopted } = findOrphans(
      { component, resources: [network, part, server], blockers: [] },
      { resources: state, pending: [] },
    );
    expect(adopted.map(({ entry }) => entry)).toEqual([
      {
        urn: urn("cloud:index:Server", "dev-cp-1"),
        custom: true,
        id: "3",
        type: "cloud:index:Server",
        inputs: {},
        outputs: {},
        parent: parent.urn,
        protect: true,
        provider: `${provider.urn}::p`,
        dependencies: [urn("cloud:index:Network", "dev-network"), urn("cloud:index:Subnet", "dev-subnet")],
      },
    ]);
  });

  test("is written with the id for the plugin's import, if that is different", () => {
    const { adopted } = findOrphans(
      { component, resources: [{ ...network, importId: "host/1" }], blockers: [] },
      { resources: none, pending: [] },
    );
    expect(adopted[0]?.entry.id).toBe("host/1");
  });

  test("is tainted if its creation was not completed, so that the next up recreates it", () => {
    const { adopted } = findOrphans(
      { component, resources: [{ ...network, isUnfinished: true }], blockers: [] },
      { resources: none, pending: [] },
    );
    expect(adopted[0]?.entry.taint).toBe(true);
  });

  test("blocks a destroy if others are in the network that the state has, and nowhere else", () => {
    const other = { title: "server mine", removal: "delete mine" };
    const blockers = (state: object[]) =>
      findOrphans(
        { component, resources: [network], blockers: [other] },
        { resources: state as ExportedResource[], pending: [] },
      ).blockers;
    expect(blockers([...none, kept(network)])).toEqual([other]);
    expect(blockers([])).toEqual([]);
  });

  test("uses the program's own provider, and not the default one of the engine", () => {
    const byDefault = {
      type: "pulumi:providers:cloud",
      urn: "urn:pulumi:dev::sluice::pulumi:providers:cloud::default_1_2_3",
      id: "d",
    };
    const { adopted } = findOrphans(
      { component, resources: [network], blockers: [] },
      { resources: [parent, byDefault, provider], pending: [] },
    );
    expect(adopted[0]?.entry.provider).toBe(`${provider.urn}::p`);
  });
});
