import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ApiError } from "../../../components/api/apiError.ts";
import type { BackupPolicy } from "../../../components/backup/backupFirst.ts";
import type { MachineEntries, MachineEntry } from "../../../components/lifecycle/changePlan.ts";
import type { CurrentMachines } from "../../../components/lifecycle/machinePlatform.ts";
import {
  operations,
  type QuorumGuardInputs,
  type QuorumGuardState,
} from "../../../components/machines/quorumGuard.provider.ts";
import { Backups, giveSnapshots } from "../backup/backups.ts";
import { config, credentials, FakeWorld, failure } from "../talos/fakeNodes.ts";

const controlPlanes = ["cp-1", "cp-2", "cp-3"];
const server = (address: string, changes: Partial<MachineEntry> = {}): MachineEntry => ({
  ...{ role: "controlplane", address, serverType: "cx23", location: "fsn1" },
  ...changes,
});
/** Nodes have their names as addresses, here and in the node network. */
const listed: MachineEntries = {
  ...Object.fromEntries(controlPlanes.map((name) => [name, server(name)])),
  "w-1": server("w-1", { role: "worker" }),
  "w-2": server("w-2", { role: "worker" }),
};
const inputs = (machines: MachineEntries, changes: Partial<QuorumGuardInputs> = {}): QuorumGuardInputs => ({
  machines,
  ...{ place: { kind: "hetzner", cluster: "dev" }, hasFixedAddresses: false, token: "MARKER of the account" },
  ...{ credentials, deadlineSeconds: 20, row: "the urn" },
  ...changes,
});
const state = (machines: MachineEntries, changes: Partial<QuorumGuardState> = {}): QuorumGuardState => ({
  ...{ ...inputs(machines), open: [], found: {}, drift: [] },
  ...changes,
});
/** The list with changed properties of some nodes. */
const where = (names: readonly string[], changes: Partial<MachineEntry>): MachineEntries => ({
  ...listed,
  ...Object.fromEntries(names.map((name) => [name, { ...listed[name], ...changes } as MachineEntry])),
});

class Fake extends FakeWorld {
  asked = 0;
  /** The current machines: at first those of the list. */
  machines: CurrentMachines = this.as(listed);

  readonly currentMachines = async (): Promise<CurrentMachines> => {
    this.asked += 1;
    return this.machines;
  };

  as(entries: MachineEntries): CurrentMachines {
    return Object.fromEntries(
      Object.entries(entries).map(([name, { serverType, location }]) => [
        name,
        { talosAddress: name, serverType: serverType ?? "", location: location ?? "" },
      ]),
    );
  }
}

/** A running cluster of three control planes. */
function cluster(members: readonly string[] = controlPlanes): Fake {
  const fake = new Fake();
  fake.addControlPlanes(controlPlanes, members);
  for (const name of ["w-1", "w-2"]) fake.add(name).runs(config());
  return fake;
}

const update = (fake: Fake, news: MachineEntries, olds: QuorumGuardState = state(listed)) =>
  operations.update(olds, inputs(news), fake);
/** The same with a backup before it. */
const updateWithBackup = (fake: Fake, news: MachineEntries, backup: BackupPolicy, olds = state(listed)) =>
  operations.update(olds, inputs(news, { backup }), fake);
/** No call that changes something was made to any node. */
const isUntouched = (fake: Fake) => [...fake.nodes.values()].every(({ calls }) => calls.length === 0);

test("a state with the property names of commit 9229c4d is migrated, and one with the current names stays", () => {
  const machines = { "cp-1": { role: "controlplane", address: "10.0.0.11", reach: "cp.example.org", identity: "" } };
  const place = { kind: "proxmox", cluster: "home", endpoint: "https://10.0.0.2:8006", insecure: true };
  const { reach: talosAddress, ...entry } = machines["cp-1"];
  const { endpoint: apiUrl, ...where } = place;
  const now = { machines: { "cp-1": { ...entry, talosAddress } }, place: { ...where, apiUrl } };
  expect(operations.migrate({ machines, place })).toEqual(now);
  expect(operations.migrate(now)).toEqual(now);
});

describe("machines that are created", () => {
  test("need no check, because there is nothing to lose, and no node is called (S1.6)", async () => {
    const fake = cluster();
    expect(await operations.create(inputs(listed))).toEqual(state(listed));
    expect(fake.asked).toBe(0);
  });

  test("and removed with their entries are no change of any other", async () => {
    const fake = cluster();
    const { "w-2": _, ...less } = listed;
    const news = { ...less, "cp-4": server("cp-4"), "cp-5": server("cp-5") };
    expect(await update(fake, news)).toEqual(state(news));
    expect(fake.asked).toBe(0);
  });
});

describe("a backup before a control plane's machine is changed (S7.3)", () => {
  let backups: Backups;
  beforeEach(async () => {
    backups = await Backups.make();
  });
  afterEach(() => backups.remove());

  test("is taken once etcd is known to keep its quorum, and says before what", async () => {
    const fake = cluster();
    giveSnapshots([...fake.nodes.values()]);
    await updateWithBackup(fake, where(["cp-1"], { serverType: "cx33" }), backups.policy);
    expect(backups.manifests).toMatchObject([{ reason: "before the machine of cp-1 is changed" }]);
  });

  test("is taken before the only control plane is off for a while", async () => {
    const fake = new Fake();
    giveSnapshots(fake.addControlPlanes(["cp-1"]));
    const { "cp-1": only = server("cp-1") } = listed;
    const news = { "cp-1": { ...only, serverType: "cx33" } };
    await updateWithBackup(fake, news, backups.policy, state({ "cp-1": only }));
    expect(backups.manifests).toHaveLength(1);
  });

  test("that fails keeps the machine from being changed", async () => {
    const fake = cluster();
    const message = await failure(updateWithBackup(fake, where(["cp-1"], { serverType: "cx33" }), backups.policy));
    expect(message).toMatch(/^SLU-B107 The backup before a change failed/);
    expect(message).toContain("Nothing was changed");
  });

  test("is neither taken before a worker is changed nor while there is no etcd", async () => {
    await updateWithBackup(cluster(), where(["w-1"], { serverType: "cx33" }), backups.policy);
    const blank = new Fake();
    for (const name of controlPlanes) blank.add(name);
    await updateWithBackup(blank, where(["cp-1"], { serverType: "cx33" }), backups.policy);
    expect(backups.manifests).toEqual([]);
  });
});

describe("a change of machines", () => {
  test.each([
    ["type", { serverType: "cx33" }],
    ["location", { location: "nbg1" }],
  ])("of several control planes' %s is refused in a running cluster, before the first is touched", async (_, to) => {
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
  ])("of one control plane's %s is allowed if etcd keeps its quorum without it", async (_, to) => {
    const fake = cluster();
    const news = where(["cp-2"], to);
    expect(await update(fake, news)).toEqual(state(news, { open: ["cp-2"] }));
    expect(isUntouched(fake)).toBe(true);
  });

  test("of one control plane is refused if another is unhealthy [C35]", async () => {
    const fake = cluster();
    fake.node("cp-3").etcd.healthy = false;
    const message = await failure(update(fake, where(["cp-2"], { serverType: "cx33" })));
    expect(message).toMatch(/^SLU-L101 etcd would lose its quorum/);
    expect(message).toContain("without cp-2: 2 of 3 members must be healthy meanwhile, and only 1 would be");
    expect(message).toContain("unhealthy: cp-3");
    expect(isUntouched(fake)).toBe(true);
  });

  test("of the unhealthy one is allowed if the others keep the quorum", async () => {
    const fake = cluster();
    fake.node("cp-2").etcd.healthy = false;
    await expect(update(fake, where(["cp-2"], { location: "nbg1" }))).resolves.toBeDefined();
  });

  test("of the only control plane is allowed if it is only off for a while, and not if its data would be lost", async () => {
    const alone: MachineEntries = { "cp-1": server("cp-1") };
    const fake = cluster(["cp-1"]);
    fake.machines = fake.as(alone);
    const changed = (to: Partial<MachineEntry>) => update(fake, { "cp-1": server("cp-1", to) }, state(alone));
    await expect(changed({ serverType: "cx33" })).resolves.toBeDefined();
    expect(await failure(changed({ location: "nbg1" }))).toMatch(/^SLU-L101.*it is the only voter/s);
  });

  test("of all is allowed before there is an etcd", async () => {
    const fake = cluster();
    for (const name of controlPlanes) fake.node(name).etcd = { state: "Preparing", healthy: false };
    fake.node("cp-3").kind = "maintenance";
    await expect(update(fake, where(controlPlanes, { serverType: "cx33" }))).resolves.toBeDefined();
  });

  test("of all is allowed if no machine was ever created (S1.6)", async () => {
    const fake = cluster();
    fake.machines = {};
    await expect(update(fake, where(controlPlanes, { location: "nbg1" }))).resolves.toBeDefined();
  });

  test("is refused at the deadline while it is unknown whether there is an etcd", async () => {
    const fake = cluster();
    for (const name of controlPlanes) fake.node(name).kind = "unreachable";
    const message = await failure(update(fake, where(["cp-1"], { serverType: "cx33" })));
    expect(message).toMatch(/^SLU-L101.*it is unknown whether etcd runs: cp-1 is unreachable/s);
    expect(fake.clock.now()).toBeLessThanOrEqual(20_000);
  });

  test("of workers is allowed, all at once", async () => {
    const fake = cluster();
    const news = where(["w-1", "w-2"], { serverType: "cx33" });
    expect(await update(fake, news)).toEqual(state(news));
    expect(fake.asked).toBe(0);
  });

  test("includes one that was allowed before and failed, because it is still pending", async () => {
    const fake = cluster();
    const first = where(["cp-1"], { serverType: "cx33" });
    const message = await failure(
      update(fake, where(["cp-1", "cp-2"], { serverType: "cx33" }), state(first, { open: ["cp-1"] })),
    );
    expect(message).toMatch(/^SLU-L104.*cp-1, cp-2/s);
  });

  test("is forgotten when it was allowed before and has happened", async () => {
    const fake = cluster();
    const first = where(["cp-1"], { serverType: "cx33" });
    fake.machines = fake.as(first);
    expect(await update(fake, first, state(first, { open: ["cp-1"] }))).toEqual(state(first));
    const second = where(["cp-1", "cp-2"], { serverType: "cx33" });
    expect(await update(fake, second, state(first))).toEqual(state(second, { open: ["cp-2"] }));
  });

  test("is refused if the current machines cannot be listed, without showing a secret", async () => {
    const fake = cluster();
    const context = Object.assign(fake, {
      currentMachines: () => Promise.reject(new ApiError("https://api answers 401", 401)),
    });
    const message = await failure(
      operations.update(state(listed), inputs(where(["cp-1"], { location: "nbg1" })), context),
    );
    expect(message).toMatch(/^SLU-M102.*answers 401/s);
    expect(message).not.toContain("MARKER");
  });
});

describe("a node", () => {
  const { "w-2": _, ...less } = listed;

  test("cannot get the address of one that leaves in the same run, because that machine is deleted last", async () => {
    const fake = cluster();
    const message = await failure(update(fake, { ...less, "w-9": server("w-2", { role: "worker" }) }));
    expect(message).toMatch(/^SLU-L105.*w-9.*the address w-2, which w-2 keeps until its machine is deleted/s);
  });

  test("can get the address of one that never had a machine", async () => {
    const fake = cluster();
    fake.machines = fake.as(less);
    await expect(update(fake, { ...less, "w-9": server("w-2", { role: "worker" }) })).resolves.toBeDefined();
  });

  test("keeps its machine under another name if the machine existed before", async () => {
    const fake = cluster();
    const existing = { place: { kind: "existing" } } as const;
    const news = inputs({ ...less, "w-9": server("w-2", { role: "worker" }) }, existing);
    await expect(operations.update(state(listed, existing), news, fake)).resolves.toBeDefined();
  });

  test.each(["ours", "settling"] as const)("keeps its address while it is in the cluster: %s", async (kind) => {
    const fake = cluster();
    fake.node("w-2").kind = kind;
    const message = await failure(update(fake, where(["w-2"], { address: "10.0.0.99" })));
    expect(message).toMatch(/^SLU-L105.*w-2.*it runs at w-2, and would move to 10\.0\.0\.99\. Nothing was changed/s);
  });

  test.each([
    ["maintenance", false, "it succeeded"],
    ["maintenance", true, "SLU-L105"],
    ["unreachable", true, "it succeeded"],
  ] as const)(
    "without a config can have another address if no image has the old one: %s, fixed %s",
    async (kind, hasFixedAddresses, end) => {
      const fake = cluster();
      fake.node("w-2").kind = kind;
      const news = inputs(where(["w-2"], { address: "10.0.0.99" }), { hasFixedAddresses });
      expect(await failure(operations.update(state(listed), news, fake))).toContain(end);
    },
  );
});

describe("the preview of a change of machines", () => {
  const preview = (olds: QuorumGuardState, news: QuorumGuardInputs) => ({
    ...operations.difference(olds, news),
    noted: operations.notes(olds, news).map(({ text }) => text),
  });

  test("names each machine and what happens to it, offline", () => {
    const news = inputs({
      ...where(["cp-1", "cp-2"], { serverType: "cx33" }),
      "w-1": server("w-1", { role: "worker", location: "nbg1" }),
    });
    expect(preview(state(listed), news)).toEqual({
      kind: "update",
      noted: [
        "cp-1 is turned off for a change of its type: cx23 -> cx33",
        "cp-2 is turned off for a change of its type: cx23 -> cx33",
        "w-1 is recreated for a change of its location: fsn1 -> nbg1",
        "cp-1, cp-2: `up` refuses to change several control planes of a running cluster at once",
      ],
    });
  });

  test("shows that names and addresses cannot change", () => {
    const { "w-2": _, ...less } = where(["w-1"], { address: "10.0.0.99" });
    const { noted } = preview(state(listed), inputs({ ...less, "w-9": server("w-2", { role: "worker" }) }));
    expect(noted).toEqual([
      "w-9 would get the address w-2 of w-2: `up` refuses that while w-2 has a machine",
      "w-1 would get the address 10.0.0.99 instead of w-1: `up` refuses that while the node runs at the old one",
    ]);
  });

  test("shows nothing if nothing changes, and checks once more after a control plane's change was allowed", () => {
    expect(preview(state(listed), inputs(listed))).toEqual({ kind: "none", noted: [] });
    expect(preview(state(listed, { open: ["cp-1"] }), inputs(listed))).toEqual({
      kind: "update",
      noted: ["checks whether the change of cp-1 that the last run allowed was made"],
    });
  });
});

describe("a refresh of the quorum guard", () => {
  test("U3 finds a machine that someone else changed, and changing it back is shown and checked as any change", async () => {
    const fake = cluster();
    fake.machines = fake.as(where(["cp-1", "cp-2"], { serverType: "cx43" }));
    const props = await operations.read(state(listed), fake);
    expect(props.drift).toEqual([
      "cp-1 has the type cx43, and should have cx23: `up` turns it off for that",
      "cp-2 has the type cx43, and should have cx23: `up` turns it off for that",
    ]);
    expect(operations.difference(props, inputs(listed))).toEqual({ kind: "update" });
    const text = "cp-1 is turned off for a change of its type: cx43 -> cx23";
    expect(operations.notes(props, inputs(listed))).toContainEqual({ text, as: "warning" });
    expect(await failure(operations.update(props, inputs(listed), fake))).toMatch(/^SLU-L104/);
  });

  test("U3 changes nothing if nothing differs, if nothing answers, or if an allowed change is still pending", async () => {
    const fake = cluster();
    expect(await operations.read(state(listed), fake)).toEqual(state(listed));
    const silent = Object.assign(cluster(), { currentMachines: () => Promise.reject(new Error("nobody answers")) });
    expect(await operations.read(state(listed), silent)).toEqual(state(listed));
    const open = state(where(["cp-1"], { serverType: "cx33" }), { open: ["cp-1"] });
    expect(await operations.read(open, fake)).toEqual(open);
  });
});
