import { describe, expect, test } from "@jest/globals";
import { type ChangesInputs, type ChangesState, operations } from "../../../components/machines/allowChanges.ts";
import { HetznerApiError } from "../../../components/machines/hetznerApi.ts";
import type { MachineEntries, MachineEntry } from "../../../components/machines/machineChange.ts";
import type { StandingMachines } from "../../../components/machines/standingMachines.ts";
import { config, credentials, FakeWorld } from "../talos/fakeNodes.ts";

const controlPlanes = ["cp-1", "cp-2", "cp-3"];
const server = (address: string, changes: Partial<MachineEntry> = {}): MachineEntry => ({
  ...{ role: "controlplane", address, serverType: "cx23", location: "fsn1" },
  ...changes,
});
/** Nodes are reached at their names, and are at their names in the node network. */
const listed: MachineEntries = {
  ...Object.fromEntries(controlPlanes.map((name) => [name, server(name)])),
  "w-1": server("w-1", { role: "worker" }),
  "w-2": server("w-2", { role: "worker" }),
};
const inputs = (machines: MachineEntries, changes: Partial<ChangesInputs> = {}): ChangesInputs => ({
  machines,
  ...{ place: { kind: "hetzner", cluster: "dev" }, hasFixedAddresses: false, token: "MARKER of the account" },
  ...{ credentials, deadline: 20, row: "the urn" },
  ...changes,
});
const state = (machines: MachineEntries, changes: Partial<ChangesState> = {}): ChangesState => ({
  ...{ ...inputs(machines), open: [], found: {}, drift: [] },
  ...changes,
});
/** The list with something else of some nodes. */
const where = (names: readonly string[], changes: Partial<MachineEntry>): MachineEntries => ({
  ...listed,
  ...Object.fromEntries(names.map((name) => [name, { ...listed[name], ...changes } as MachineEntry])),
});

class Fake extends FakeWorld {
  asked = 0;
  /** What there is: at first what the list says. */
  machines: StandingMachines = this.as(listed);

  readonly standing = async (): Promise<StandingMachines> => {
    this.asked += 1;
    return this.machines;
  };

  as(entries: MachineEntries): StandingMachines {
    return Object.fromEntries(
      Object.entries(entries).map(([name, { serverType, location }]) => [
        name,
        { endpoint: name, serverType: serverType ?? "", location: location ?? "" },
      ]),
    );
  }
}

/** A cluster that lives, of three control planes. */
function cluster(members: readonly string[] = controlPlanes): Fake {
  const fake = new Fake();
  for (const name of controlPlanes) {
    const node = fake.add(name).runs(config({}, "controlplane"));
    node.etcd = { state: "Running", healthy: true };
    node.members = members;
  }
  for (const name of ["w-1", "w-2"]) fake.add(name).runs(config());
  return fake;
}

const node = (fake: Fake, name: string) => {
  const found = fake.nodes.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const update = (fake: Fake, news: MachineEntries, olds: ChangesState = state(listed)) =>
  operations.update(olds, inputs(news), fake);
const failure = (made: Promise<unknown>) =>
  made.then(
    () => "it succeeded",
    ({ message }: Error) => message,
  );
/** Nothing that changes anything was asked of any node. */
const isUntouched = (fake: Fake) => [...fake.nodes.values()].every(({ calls }) => calls.length === 0);

describe("machines that are made", () => {
  test("are nobody's concern: there is nothing to lose, and nobody is asked (S1.6)", async () => {
    const fake = cluster();
    expect(await operations.create(inputs(listed))).toEqual({ id: "machines", outs: state(listed) });
    expect(fake.asked).toBe(0);
  });

  test("and go with their lines are no change of any other", async () => {
    const fake = cluster();
    const { "w-2": _, ...less } = listed;
    const news = { ...less, "cp-4": server("cp-4"), "cp-5": server("cp-5") };
    expect(await update(fake, news)).toEqual({ outs: state(news) });
    expect(fake.asked).toBe(0);
  });
});

describe("a change of machines", () => {
  test.each([
    ["type", { serverType: "cx33" }],
    ["location", { location: "nbg1" }],
  ])("of several control planes' %s is refused while the cluster lives, before the first is touched", async (_, to) => {
    const fake = cluster();
    const message = await failure(update(fake, where(["cp-1", "cp-2"], to)));
    expect(message).toMatch(/^SLU-L104 Several control planes would go down at once/);
    expect(message).toContain("cp-1, cp-2");
    expect(message).toMatch(/cp-1 is .* for a change of its .*; cp-2 is /);
    expect(message).toContain("Nothing was changed");
    expect(isUntouched(fake)).toBe(true);
  });

  test.each([
    ["type", { serverType: "cx33" }],
    ["location", { location: "nbg1" }],
  ])("of one control plane's %s is let through where etcd is enough without it", async (_, to) => {
    const fake = cluster();
    const news = where(["cp-2"], to);
    expect(await update(fake, news)).toEqual({ outs: state(news, { open: ["cp-2"] }) });
    expect(isUntouched(fake)).toBe(true);
  });

  test("of one control plane is refused where another is not well (peers: quorum proof)", async () => {
    const fake = cluster();
    node(fake, "cp-3").etcd.healthy = false;
    const message = await failure(update(fake, where(["cp-2"], { serverType: "cx33" })));
    expect(message).toMatch(/^SLU-L101 etcd would lose its quorum/);
    expect(message).toContain("without cp-2: 2 of 3 members have to be well meanwhile, and there would be 1");
    expect(message).toContain("not well: cp-3");
    expect(isUntouched(fake)).toBe(true);
  });

  test("of the one that is not well is let through: the others are enough", async () => {
    const fake = cluster();
    node(fake, "cp-2").etcd.healthy = false;
    await expect(update(fake, where(["cp-2"], { location: "nbg1" }))).resolves.toBeDefined();
  });

  test("of the only control plane is let through where it is only off for a while, and not where its data would go", async () => {
    const alone: MachineEntries = { "cp-1": server("cp-1") };
    const fake = cluster(["cp-1"]);
    fake.machines = fake.as(alone);
    const changed = (to: Partial<MachineEntry>) => update(fake, { "cp-1": server("cp-1", to) }, state(alone));
    await expect(changed({ serverType: "cx33" })).resolves.toBeDefined();
    expect(await failure(changed({ location: "nbg1" }))).toMatch(/^SLU-L101.*it is the only member that votes/s);
  });

  test("of all is let through before there is an etcd", async () => {
    const fake = cluster();
    for (const name of controlPlanes) node(fake, name).etcd = { state: "Preparing", healthy: false };
    node(fake, "cp-3").kind = "maintenance";
    await expect(update(fake, where(controlPlanes, { serverType: "cx33" }))).resolves.toBeDefined();
  });

  test("of all is let through where no machine was ever made (S1.6)", async () => {
    const fake = cluster();
    fake.machines = {};
    await expect(update(fake, where(controlPlanes, { location: "nbg1" }))).resolves.toBeDefined();
  });

  test("is refused while it is not known whether there is an etcd, when it was waited for long enough", async () => {
    const fake = cluster();
    for (const name of controlPlanes) node(fake, name).kind = "unreachable";
    const message = await failure(update(fake, where(["cp-1"], { serverType: "cx33" })));
    expect(message).toMatch(/^SLU-L101.*whether etcd runs is not known: cp-1 is unreachable/s);
    expect(fake.clock.now()).toBeLessThanOrEqual(20_000);
  });

  test("of workers is allowed, all at once", async () => {
    const fake = cluster();
    const news = where(["w-1", "w-2"], { serverType: "cx33" });
    expect(await update(fake, news)).toEqual({ outs: state(news) });
    expect(fake.asked).toBe(0);
  });

  test("counts with one that was let through before, and failed: it is still to come", async () => {
    const fake = cluster();
    const first = where(["cp-1"], { serverType: "cx33" });
    const message = await failure(
      update(fake, where(["cp-1", "cp-2"], { serverType: "cx33" }), state(first, { open: ["cp-1"] })),
    );
    expect(message).toMatch(/^SLU-L104.*cp-1, cp-2/s);
  });

  test("is done with when it was let through before, and came to pass", async () => {
    const fake = cluster();
    const first = where(["cp-1"], { serverType: "cx33" });
    fake.machines = fake.as(first);
    expect(await update(fake, first, state(first, { open: ["cp-1"] }))).toEqual({ outs: state(first) });
    const second = where(["cp-1", "cp-2"], { serverType: "cx33" });
    expect(await update(fake, second, state(first))).toEqual({ outs: state(second, { open: ["cp-2"] }) });
  });

  test("is refused where nobody tells which machines there are, and nothing secret is said", async () => {
    const fake = cluster();
    const world = Object.assign(fake, {
      standing: () => Promise.reject(new HetznerApiError("https://api answers 401", false)),
    });
    const message = await failure(
      operations.update(state(listed), inputs(where(["cp-1"], { location: "nbg1" })), world),
    );
    expect(message).toMatch(/^SLU-M102.*answers 401/s);
    expect(message).not.toContain("MARKER");
  });
});

describe("a node", () => {
  const { "w-2": _, ...less } = listed;

  test("is not to take over the address of one that leaves in the same run, for its machine goes last", async () => {
    const fake = cluster();
    const message = await failure(update(fake, { ...less, "w-9": server("w-2", { role: "worker" }) }));
    expect(message).toMatch(/^SLU-L105.*w-9.*the address w-2, which w-2 has for as long as its machine is there/s);
  });

  test("takes it over where that one never had a machine", async () => {
    const fake = cluster();
    fake.machines = fake.as(less);
    await expect(update(fake, { ...less, "w-9": server("w-2", { role: "worker" }) })).resolves.toBeDefined();
  });

  test("keeps its machine under another name where that was there before", async () => {
    const fake = cluster();
    const existing = { place: { kind: "existing" } } as const;
    const news = inputs({ ...less, "w-9": server("w-2", { role: "worker" }) }, existing);
    await expect(operations.update(state(listed, existing), news, fake)).resolves.toBeDefined();
  });

  test.each(["ours", "settling"] as const)("keeps its address while it lives: %s", async (kind) => {
    const fake = cluster();
    node(fake, "w-2").kind = kind;
    const message = await failure(update(fake, where(["w-2"], { address: "10.0.0.99" })));
    expect(message).toMatch(/^SLU-L105.*w-2.*it lives at w-2, and is to be at 10\.0\.0\.99\. Nothing was changed/s);
  });

  test.each([
    ["maintenance", false, "it succeeded"],
    ["maintenance", true, "SLU-L105"],
    ["unreachable", true, "it succeeded"],
  ] as const)(
    "without a config is at another address where no image holds the old one: %s, fixed %s",
    async (kind, hasFixedAddresses, end) => {
      const fake = cluster();
      node(fake, "w-2").kind = kind;
      const news = inputs(where(["w-2"], { address: "10.0.0.99" }), { hasFixedAddresses });
      expect(await failure(operations.update(state(listed), news, fake))).toContain(end);
    },
  );
});

describe("the preview of a change of machines", () => {
  const noted = async (olds: ChangesState, news: ChangesInputs) => {
    const fake = cluster();
    return { ...(await operations.diff(olds, news, fake)), noted: fake.noted, asked: fake.asked };
  };

  test("says what becomes of which machine, offline", async () => {
    const news = inputs({
      ...where(["cp-1", "cp-2"], { serverType: "cx33" }),
      "w-1": server("w-1", { role: "worker", location: "nbg1" }),
    });
    expect(await noted(state(listed), news)).toEqual({
      changes: true,
      asked: 0,
      noted: [
        "cp-1 is turned off for a change of its type: cx23 -> cx33",
        "cp-2 is turned off for a change of its type: cx23 -> cx33",
        "w-1 is made anew for a change of its location: fsn1 -> nbg1",
        "cp-1, cp-2: `up` refuses to change several control planes of a living cluster at once",
      ],
    });
  });

  test("says of names and addresses that they cannot change", async () => {
    const { "w-2": _, ...less } = where(["w-1"], { address: "10.0.0.99" });
    const { noted: said } = await noted(state(listed), inputs({ ...less, "w-9": server("w-2", { role: "worker" }) }));
    expect(said).toEqual([
      "w-9 is to have the address w-2 of w-2: `up` refuses that while w-2 has a machine",
      "w-1 is to have the address 10.0.0.99 in place of w-1: `up` refuses that while it lives at the old one",
    ]);
  });

  test("is silent where nothing of it changes, and looks once more after a control plane was let through", async () => {
    expect(await noted(state(listed), inputs(listed))).toEqual({ changes: false, noted: [], asked: 0 });
    expect(await noted(state(listed, { open: ["cp-1"] }), inputs(listed))).toEqual({
      changes: true,
      asked: 0,
      noted: ["looks whether what was to become of cp-1 in the run before has"],
    });
  });
});

describe("a refresh", () => {
  test("U3 finds a machine that somebody else changed, and what would be done about it is told and proven as any change", async () => {
    const fake = cluster();
    fake.machines = fake.as(where(["cp-1", "cp-2"], { serverType: "cx43" }));
    const { props } = await operations.read("machines", state(listed), fake);
    expect(props.drift).toEqual([
      "cp-1 has the type cx43, and should have cx23: `up` turns it off for that",
      "cp-2 has the type cx43, and should have cx23: `up` turns it off for that",
    ]);
    expect((await operations.diff(props, inputs(listed), fake)).changes).toBe(true);
    expect(fake.noted).toContain("cp-1 is turned off for a change of its type: cx43 -> cx23");
    expect(await failure(operations.update(props, inputs(listed), fake))).toMatch(/^SLU-L104/);
  });

  test("U3 changes nothing where all is as it was, where nobody answers, or where what was let through is still to come", async () => {
    const fake = cluster();
    expect(await operations.read("machines", state(listed), fake)).toEqual({ id: "machines", props: state(listed) });
    const silent = { standing: () => Promise.reject(new Error("nobody answers")) };
    expect(await operations.read("machines", state(listed), silent)).toEqual({ id: "machines", props: state(listed) });
    const open = state(where(["cp-1"], { serverType: "cx33" }), { open: ["cp-1"] });
    expect(await operations.read("machines", open, fake)).toEqual({ id: "machines", props: open });
  });
});
