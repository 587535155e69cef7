import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import type { BackupPolicy } from "../../../components/backup/backupFirst.ts";
import {
  type LatestBackupInputs,
  type LatestBackupState,
  operations,
} from "../../../components/backup/latestBackup.provider.ts";
import { systemClock } from "../../../components/waiting/clock.ts";
import { credentials, FakeWorld } from "../talos/fakeNodes.ts";
import { Backups, giveSnapshots } from "./backups.ts";

describe("the newest backup of a cluster (S7.3)", () => {
  let backups: Backups;
  let fake: FakeWorld;
  beforeEach(async () => {
    backups = await Backups.make();
    fake = new FakeWorld();
    giveSnapshots(fake.addControlPlanes(["cp-1"]));
  });
  afterEach(() => backups.remove());

  const inputs = (changes: Partial<BackupPolicy> = {}, maxAgeHours = 168): LatestBackupInputs => ({
    nodes: [{ name: "cp-1", role: "controlplane", address: "cp-1", talosAddress: "cp-1" }],
    ...{ credentials, backup: { ...backups.policy, ...changes }, maxAgeHours, row: "the urn" },
  });
  /** The time limit of a refresh is real. */
  const inRealTime = () => ({ ...fake, note: fake.note, access: fake.access, clock: systemClock });
  const reasons = () => backups.manifests.map(({ reason }) => reason);

  test("is taken if there is none, and not again while it is recent", async () => {
    await operations.create(inputs(), fake);
    expect(reasons()).toEqual(["because there is none yet"]);
    await operations.create(inputs(), fake);
    expect(reasons()).toHaveLength(1);
  });

  test.each([
    ["is too old", {}, 0, "the newest is older than 0 hours"],
    [
      "is of another cluster",
      { cluster: { name: "home", id: "other", talosVersion: "", kubernetesVersion: "" } },
      168,
      "the newest is of another cluster",
    ],
    [
      "is for other keys",
      { recipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"] },
      168,
      "ageRecipients has changed",
    ],
  ])("is taken again if it %s, which a refresh finds and the preview announces", async (_, changes, hours, why) => {
    await operations.create(inputs(), fake);
    const wanted = inputs(changes, hours);
    const read: LatestBackupState = await operations.read(wanted, inRealTime());
    expect(read.stale).toBe(why);
    expect(operations.difference(read, wanted)).toEqual({ kind: "update" });
    expect(operations.notes(read)).toEqual([{ text: `a backup is taken: ${why}`, as: "info" }]);
    // Two backups in one second would have the same name.
    rmSync(join(backups.folder, "home"), { recursive: true });
    await operations.create(wanted, fake);
    expect(reasons()).toEqual(["because there is none yet"]);
  });

  test("is not known to be missing while the target does not answer", async () => {
    const place = { clusterName: "home", folder: "/dev/null", credentials: {} };
    const state = inputs({ place });
    expect(await operations.read(state, inRealTime())).toEqual(state);
  });

  test("is taken again if the target, the keys or the cluster change, and else only recorded", () => {
    const change = (news: LatestBackupInputs) => operations.difference(inputs(), news).kind;
    expect(change(inputs())).toBe("none");
    expect(change(inputs({ place: { clusterName: "home", folder: "/other", credentials: {} } }))).toBe("update");
    expect(change(inputs({ recipients: [] }))).toBe("update");
    expect(change(inputs({ keep: 3 }))).toBe("record");
    expect(change(inputs({}, 12))).toBe("record");
    expect(change({ ...inputs(), nodes: unknownValue as never })).toBe("record");
  });
});
