// What a preview says of a restore.
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { operations as latest } from "../../components/backup/latestBackup.provider.ts";
import { backupName } from "../../components/backup/manifest.ts";
import { restoreLine } from "../../stacks/previewRestore.ts";
import { Backups, giveSnapshots } from "../components/backup/backups.ts";
import { credentials, FakeWorld } from "../components/talos/fakeNodes.ts";

describe("the preview of a restore (S7.4)", () => {
  const { SLUICE_AGE_IDENTITY_FILE } = process.env;
  let backups: Backups;
  let name: string;
  beforeEach(async () => {
    backups = await Backups.make();
    const world = new FakeWorld();
    giveSnapshots(world.addControlPlanes(["cp-1"]));
    const nodes = [{ name: "cp-1", role: "controlplane", address: "cp-1", talosAddress: "cp-1" }];
    await latest.create({ nodes, credentials, backup: backups.policy, maxAgeHours: 168, row: "the urn" }, world);
    name = backupName(backups.manifests[0]?.takenAt ?? "");
    process.env.SLUICE_AGE_IDENTITY_FILE = join(backups.folder, "key.txt");
    writeFileSync(process.env.SLUICE_AGE_IDENTITY_FILE, backups.identity);
  });
  afterEach(() => {
    backups.remove();
    if (SLUICE_AGE_IDENTITY_FILE === undefined) delete process.env.SLUICE_AGE_IDENTITY_FILE;
    else process.env.SLUICE_AGE_IDENTITY_FILE = SLUICE_AGE_IDENTITY_FILE;
  });

  const plan = (more = {}) => {
    const { place, cluster } = backups.policy;
    return { from: "latest", place, cluster: { ...cluster, ...more } };
  };

  test("names the backup, its age, its versions and what it has", async () => {
    expect(await restoreLine(plan())).toMatch(
      new RegExp(
        `^if no control plane has an etcd, the cluster is restored from the backup ${name} of .*: taken at .*, Kubernetes 1.36.4, Talos 1.13.8, etcd revision 1106 with 1114 records$`,
      ),
    );
  });

  test.each([
    ["of another cluster", { id: "other" }, "SLU-B106"],
    ["of a Kubernetes that the environment's cannot read", { kubernetesVersion: "1.34.0" }, "SLU-B109"],
  ])("ends with the catalogue's error for a backup %s", async (_, more, code) => {
    await expect(restoreLine(plan(more))).rejects.toMatchObject({ code });
  });

  test("ends where there is no age identity, no such backup, or one whose manifest is cut off", async () => {
    await expect(restoreLine({ ...plan(), from: "2020-01-01T00-00-00Z" })).rejects.toMatchObject({ code: "SLU-B103" });
    truncateSync(join(backups.folder, "home", name, "manifest.json"), 50);
    await expect(restoreLine(plan())).rejects.toMatchObject({ code: "SLU-B103" });
    delete process.env.SLUICE_AGE_IDENTITY_FILE;
    await expect(restoreLine(plan())).rejects.toMatchObject({ code: "SLU-B104" });
  });

  test("U2 does not end where the target does not answer, and says so", async () => {
    const place = { clusterName: "home", folder: join(backups.folder, "key.txt"), credentials: {} };
    expect(await restoreLine({ ...plan(), place })).toMatch(
      /^if no control plane has an etcd, the cluster is restored from latest, which could not be read now: /,
    );
  });
});
