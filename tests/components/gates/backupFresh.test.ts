import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { generateIdentity } from "age-encryption";
import { FolderTarget } from "../../../components/backup/folderTarget.ts";
import type { BackupManifest } from "../../../components/backup/manifest.ts";
import { takeBackup } from "../../../components/backup/takeBackup.ts";
import type { BackupsObservation, CronJobKinds, NewestBackup } from "../../../components/gates/backup/backupViews.ts";
import { watchBackups } from "../../../components/gates/backup/watchBackups.ts";
import { backupFresh } from "../../../components/gates/backupFresh.ts";
import type { Observed } from "../../../components/kubernetes/observe.ts";
import { clusterIdentifier } from "../../../components/talos/secrets/secretsBundle.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { secretsBundle } from "../../support/secretsFixture.ts";
import { Backups, snapshot } from "../backup/backups.ts";
import { verdicts } from "./kubernetesLooks.ts";

const nowMs = Date.parse("2026-11-20T12:00:00Z");
const name = "2026-11-20T05-12-33Z";
const manifest: BackupManifest = {
  ...{ format: 1 as const, takenAt: "2026-11-20T05:12:33Z", reason: "on schedule", recipients: ["age1a"] },
  cluster: { name: "home", id: "the-id", talosVersion: "1.13.8", kubernetesVersion: "1.36.4", nodes: [] },
  etcd: { node: "cp-1", revision: 1, records: 1, size: 1, sha256: "" },
  files: {},
};
const inputs = {
  place: { clusterName: "home", folder: "/srv/backups" },
  ...{ clusterId: "the-id", recipients: ["age1a"], maxAgeHours: 12 },
  credentials: { kubeconfig: "" },
};
const scheduled = { ...inputs, schedule: "@daily" };
const read = (newest: NewestBackup | undefined): BackupsObservation => ({ target: { kind: "read", newest, nowMs } });
const good: NewestBackup = { name, manifest, proof: "compared" };
const judge = (seen: BackupsObservation, wanted: typeof inputs = inputs) =>
  verdicts(backupFresh.conditions(wanted), seen);

describe("the gate BackupFresh (S7.3)", () => {
  test("opens with a recent backup of this cluster, and keeps no time as evidence", () => {
    expect(judge(read(good))).toEqual([]);
    const evidence = backupFresh.evidence(read(good), inputs);
    expect(evidence).toEqual({ target: "/srv/backups/home", proof: "compared" });
    expect(backupFresh.words(evidence)).toBe("newest compared with its manifest");
  });

  test.each([
    ["none", undefined, "there is no backup"],
    [
      "an old one",
      { ...good, manifest: { ...manifest, takenAt: "2026-11-19T05:12:33Z" } },
      "is the newest, and is 30 hours old",
    ],
    ["a damaged one", { name, damage: "etcd.db.gz.age is missing" }, "etcd.db.gz.age is missing"],
    [
      "one of another cluster",
      { ...good, manifest: { ...manifest, cluster: { ...manifest.cluster, id: "other" } } },
      "is of another cluster, whose name is home too",
    ],
    [
      "one for other keys",
      { ...good, manifest: { ...manifest, recipients: ["age1a", "age1b"] } },
      "is encrypted for other age public keys than those in ageRecipients",
    ],
  ] as const)("stays closed with %s", (_, newest, reason) => {
    expect(judge(read(newest))).toMatchObject([{ kind: "pending", reason }]);
  });

  test("does not know anything of a target that does not answer: a refresh reports no drift", () => {
    expect(judge({ target: { kind: "unread", why: "refused" } })).toMatchObject([{ reason: "refused", unseen: true }]);
    expect(judge({})).toMatchObject([{ unseen: true }]);
  });

  describe("of a cluster that takes backups by itself", () => {
    const job = (name: string, created: string, ended?: "Complete" | "Failed") => ({
      metadata: {
        name,
        uid: name,
        creationTimestamp: created,
        ownerReferences: [{ kind: "CronJob", name: "b", uid: "c" }],
      },
      status: ended === undefined ? {} : { conditions: [{ type: ended, status: "True", message: "BackoffLimit" }] },
    });
    const pod = (owner: string, message: string) => ({
      metadata: {
        name: `${owner}-x`,
        creationTimestamp: "1",
        ownerReferences: [{ kind: "Job", name: owner, uid: owner }],
      },
      status: {
        containerStatuses: [
          { name: "backup", ready: false, restartCount: 0, image: "", state: { terminated: { exitCode: 1, message } } },
        ],
      },
    });
    const cluster = (changes: Partial<Observed<CronJobKinds>> = {}): BackupsObservation => ({
      ...read(good),
      cluster: {
        cronJobs: [{ metadata: { name: "sluice-backup" }, spec: { schedule: "@daily", jobTemplate: { spec: {} } } }],
        ...{ jobs: [], pods: [], events: [], unreachable: undefined },
        ...changes,
      },
    });
    const cronJob = (spec: object) => [
      { metadata: { name: "sluice-backup" }, spec: { schedule: "@daily", jobTemplate: { spec: {} }, ...spec } },
    ];

    test("opens while no scheduled run has ended, and after one that succeeded, whatever failed before", () => {
      expect(judge(cluster(), scheduled)).toEqual([]);
      const jobs = [job("a", "1", "Failed"), job("b", "2", "Complete"), job("c", "3")];
      expect(judge(cluster({ jobs }), scheduled)).toEqual([]);
    });

    test.each([
      ["there is no CronJob", { cronJobs: [] }, "does not exist"],
      ["the CronJob was suspended", { cronJobs: cronJob({ suspend: true }) }, "is suspended"],
      [
        "the CronJob runs at other times",
        { cronJobs: cronJob({ schedule: "@weekly" }) },
        "runs at '@weekly', not at '@daily'",
      ],
      [
        "the last run failed, in the words of its log",
        { jobs: [job("a", "1", "Complete"), job("b", "2", "Failed")], pods: [pod("b", "SLU-B102 denied\n")] },
        "SLU-B102 denied",
      ],
      ["the last run failed without a pod", { jobs: [job("b", "2", "Failed")] }, "BackoffLimit"],
    ])("stays closed if %s", (_, changes, reason) => {
      expect(judge(cluster(changes), scheduled)).toMatchObject([{ kind: "pending", reason }]);
    });
  });
});

describe("the observation of BackupFresh", () => {
  let backups: Backups;
  beforeEach(async () => {
    backups = await Backups.make();
  });
  afterEach(() => {
    backups.remove();
    delete process.env.SLUICE_AGE_IDENTITY;
  });

  const take = async () => {
    const { policy } = backups;
    async function* chunks() {
      yield snapshot;
    }
    await takeBackup({
      ...{ ...policy, cluster: { ...policy.cluster, nodes: [] }, secrets: { plain: policy.machineSecrets } },
      ...{ sources: [{ node: "cp-1", chunks }], reason: "a test", target: new FolderTarget(`${backups.folder}/home`) },
      ...{ temporary: backups.folder, now: Date.now, report: () => undefined },
    });
  };
  const first = async () => {
    const stop = new AbortController();
    const place = { clusterName: "home", folder: backups.folder };
    const given = {
      ...inputs,
      place,
      clusterId: clusterIdentifier(secretsBundle),
      recipients: backups.policy.recipients,
    };
    for await (const seen of watchBackups(given, stop.signal, systemClock)) {
      stop.abort();
      return { seen, verdicts: verdicts(backupFresh.conditions(given), seen) };
    }
    throw new Error("nothing was observed");
  };

  test("compares the newest backup with its manifest, and opens it where there is an identity", async () => {
    await take();
    expect(await first()).toMatchObject({ seen: { target: { newest: { proof: "compared" } } }, verdicts: [] });
    process.env.SLUICE_AGE_IDENTITY = backups.identity;
    expect(await first()).toMatchObject({ seen: { target: { newest: { proof: "opened" } } }, verdicts: [] });
  });

  test("reports a backup that its identity cannot decrypt", async () => {
    await take();
    process.env.SLUICE_AGE_IDENTITY = await generateIdentity();
    const { verdicts: found } = await first();
    expect(found).toMatchObject([{ reason: expect.stringContaining("encrypted for other age public keys") }]);
  });
});
