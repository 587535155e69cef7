import { mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { operations as latest } from "../../../components/backup/latestBackup.provider.ts";
import { backupName } from "../../../components/backup/manifest.ts";
import { operations, type RestoreInputs, type RestoreState } from "../../../components/backup/restore.provider.ts";
import type { RestorePlan } from "../../../components/backup/restorePoint.ts";
import { Secrets } from "../../support/leaks.ts";
import {
  config,
  credentials,
  everythingSaid,
  FakeWorld,
  failure,
  raise,
  refusal,
  unavailable,
} from "../talos/fakeNodes.ts";
import { Backups, giveSnapshots, snapshot, snapshotFacts } from "./backups.ts";

const names = ["cp-1", "cp-2", "cp-3"];

describe("a cluster that is restored (S7.4)", () => {
  let backups: Backups;
  let fake: FakeWorld;
  let name: string;
  beforeEach(async () => {
    backups = await Backups.make();
    process.env.SLUICE_AGE_IDENTITY = backups.identity;
    const former = new FakeWorld();
    giveSnapshots(former.addControlPlanes(["cp-1"]));
    const nodes = [{ name: "cp-1", role: "controlplane", address: "cp-1", talosAddress: "cp-1" }];
    await latest.create({ nodes, credentials, backup: backups.policy, maxAgeHours: 168, row: "the urn" }, former);
    name = backupName(backups.manifests[0]?.takenAt ?? "");
    fake = new FakeWorld();
    for (const one of names) fake.add(one).runs(config({}, "controlplane"));
  });
  afterEach(() => {
    delete process.env.SLUICE_AGE_IDENTITY;
    backups.remove();
  });

  const plan = (changes: Partial<RestorePlan> = {}): RestorePlan => {
    const { place, cluster } = backups.policy;
    return { from: "latest", place, cluster, ...changes };
  };
  const inputs = (changes: Partial<RestorePlan> = {}): RestoreInputs => ({
    controlPlanes: names.map((one) => ({ name: one, talosAddress: one, machineId: `machine of ${one}` })),
    ...{ credentials, plan: plan(changes), deadlineSeconds: 120, row: "the urn" },
  });
  const restored = () => ({ name, takenAt: backups.manifests[0]?.takenAt, revision: snapshotFacts.revision });
  const calls = () => names.map((one) => fake.node(one).calls);
  const untouched = [[], [], []];

  test.each([
    ["the newest backup", () => "latest"],
    ["a backup by its name", () => name],
    ["a backup by the path of its folder", () => join(backups.folder, "home", name)],
  ])(
    "begins with %s: the snapshot is uploaded as etcd has written it, and recovered, on the first control plane alone",
    async (_, from) => {
      const wanted = inputs({ from: from() });
      expect(await operations.create(wanted, fake)).toEqual({ ...wanted, restored: restored() });
      expect(calls()).toEqual([["recover", "bootstrap with the snapshot"], [], []]);
      expect(fake.node("cp-1").recovered?.equals(snapshot)).toBe(true);
      expect(fake.noted).toEqual([
        `etcd was restored from the backup ${name}: taken at ${restored().takenAt}, revision 1106, 1114 records. What was written later is lost`,
      ]);
    },
  );

  test.each(names)("is not restored while %s has an etcd, and says so in one line", async (one) => {
    fake.node(one).etcd = { state: "Running", healthy: true };
    expect(await operations.create(inputs(), fake)).toEqual(inputs());
    expect(calls()).toEqual(untouched);
    expect(fake.noted).toEqual(["restoreFrom has no effect: the cluster has an etcd, and its data stay"]);
  });

  test("waits for a control plane that does not answer: it may have an etcd [C36]", async () => {
    fake.node("cp-3").kind = "unreachable";
    expect(await failure(operations.create(inputs(), fake))).toMatch(/SLU-T204 .*\n.*cp-3.*etcd to be restored/s);
    expect(calls()).toEqual(untouched);
  });

  test("needs an age identity before anything is sent to a node", async () => {
    delete process.env.SLUICE_AGE_IDENTITY;
    expect(await failure(operations.create(inputs(), fake))).toMatch(/SLU-B104 .*SLUICE_AGE_IDENTITY_FILE/s);
    expect(calls()).toEqual(untouched);
  });

  test.each([
    [
      "another cluster's",
      { cluster: { id: "other", talosVersion: "1.13.8", kubernetesVersion: "1.36.4" } },
      /SLU-B106 /,
    ],
    ["two minor releases of Kubernetes older", "1.38.0", /SLU-B109 .*only 1\.36 or 1\.37 can read them/s],
    ["missing", { from: "2020-01-01T00-00-00Z" }, /SLU-B103 .*has no complete backup 2020-01-01T00-00-00Z/s],
  ])("refuses a backup that is %s, and writes nothing to a node", async (_, change, message) => {
    const changes = typeof change === "string" ? { cluster: { ...plan().cluster, kubernetesVersion: change } } : change;
    expect(await failure(operations.create(inputs(changes), fake))).toMatch(message);
    expect(calls()).toEqual(untouched);
  });

  test.each([
    ["a snapshot that is cut off", "etcd.db.gz.age"],
    ["machine secrets that are cut off", "secrets.yaml.age"],
  ])("refuses a backup with %s, and writes nothing to a node", async (_, file) => {
    truncateSync(join(backups.folder, "home", name, file), 100);
    expect(await failure(operations.create(inputs(), fake))).toMatch(/SLU-B10[134] /);
    expect(calls()).toEqual(untouched);
  });

  test("S1.6 S5.1 uploads and calls again when the connection broke during the upload", async () => {
    fake.node("cp-1").fail("etcdRecover", raise(unavailable()));
    await operations.create(inputs(), fake);
    expect(calls()[0]).toEqual(["recover", "recover", "bootstrap with the snapshot"]);
  });

  test("S1.6 waits until the node takes a snapshot, which it does only once its disk is mounted", async () => {
    const early = raise(refusal(status.FAILED_PRECONDITION, "etcd service is not ready for recovery yet"));
    fake.node("cp-1").fail("etcdRecover", early, early);
    await operations.create(inputs(), fake);
    expect(calls()[0]).toEqual(["recover", "recover", "recover", "bootstrap with the snapshot"]);
  });

  test("S5.1 calls nothing again when the call arrived and only its answer was lost", async () => {
    const first = fake.node("cp-1");
    first.fail("bootstrap", () => {
      first.etcd = { state: "Running", healthy: true };
      throw unavailable();
    });
    expect(await operations.create(inputs(), fake)).toMatchObject({ restored: restored() });
    expect(calls()[0]).toEqual(["recover", "bootstrap with the snapshot"]);
  });

  test("S5.1 uploads again before it calls again: the node may have lost the snapshot with the call", async () => {
    const first = fake.node("cp-1");
    first.fail("bootstrap", () => {
      first.etcd = { state: "Failed", healthy: false, message: "Failed to run pre stage: error verifying snapshot" };
      throw refusal(status.CANCELLED, "context canceled");
    });
    await operations.create(inputs(), fake);
    expect(calls()[0]).toEqual(["recover", "bootstrap with the snapshot", "recover", "bootstrap with the snapshot"]);
  });

  test("S5.1 calls nothing when another run has started etcd during the upload", async () => {
    const first = fake.node("cp-1");
    first.fail("etcdRecover", () => {
      first.etcd = { state: "Running", healthy: true };
    });
    expect(await operations.create(inputs(), fake)).toEqual(inputs());
    expect(calls()[0]).toEqual(["recover"]);
  });

  describe("and lost again", () => {
    const olds = (changes: Partial<RestorePlan> = {}): RestoreState => ({
      ...inputs(changes),
      restored: restored() as never,
    });

    test("is restored again from the newest backup once it is certain that etcd is gone, as the preview announces", async () => {
      const gone = { ...olds(), isGone: true } as const;
      expect(operations.difference(gone, inputs())).toEqual({ kind: "update" });
      expect(operations.notes(gone, inputs())).toEqual([
        {
          text: "if no control plane has an etcd, the cluster is restored from the newest backup; otherwise nothing is done",
          as: "info",
        },
      ]);
      const began = fake.clock.now();
      expect(await operations.update(gone, inputs(), fake)).toEqual({ ...inputs(), restored: restored() });
      expect(fake.clock.now() - began).toBeGreaterThanOrEqual(30_000);
    });

    test("is not restored from a backup that it began with while there are newer ones", async () => {
      const older = "2020-01-01T00-00-00Z";
      const state = { ...inputs({ from: older }), restored: { name: older, takenAt: "", revision: 1 } };
      expect(await failure(operations.update(state, inputs({ from: older }), fake))).toMatch(
        new RegExp(`SLU-B110 .*the newest is ${name}`, "s"),
      );
      expect(calls()).toEqual(untouched);
    });

    test("keeps what it was restored from where its etcd runs", async () => {
      fake.node("cp-2").etcd = { state: "Running", healthy: true };
      expect(await operations.update(olds(), inputs({ from: name }), fake)).toEqual({
        ...inputs({ from: name }),
        restored: restored(),
      });
    });
  });

  test("says that etcd is gone only where every control plane reports that", async () => {
    expect(await operations.read(inputs(), fake)).toMatchObject({ isGone: true });
    fake.node("cp-2").kind = "unreachable";
    expect(await operations.read(inputs(), fake)).toEqual(inputs());
  });

  test("is only recorded again where nothing but versions or credentials of the target change", () => {
    const cluster = { ...plan().cluster, kubernetesVersion: "1.37.0" };
    expect(operations.difference(inputs(), inputs())).toEqual({ kind: "none" });
    expect(operations.difference(inputs(), inputs({ cluster }))).toEqual({ kind: "record" });
    expect(operations.difference(inputs(), { ...inputs(), rejoined: 1 })).toEqual({ kind: "update" });
  });

  test("leaves no plain text, and nothing in the temporary folder", async () => {
    const secrets = new Secrets();
    secrets.add("the identity", backups.identity);
    const { TMPDIR } = process.env;
    const temporary = mkdtempSync(join(tmpdir(), "sluice-temporary-"));
    process.env.TMPDIR = temporary;
    try {
      await operations.create(inputs(), fake);
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
    expect(secrets.foundIn(everythingSaid(fake))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });
});
