import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { unknownValue } from "@pulumi/pulumi/runtime/rpc.js";
import { operations, type ReplacementBackupInputs } from "../../../components/lifecycle/replacementBackup.provider.ts";
import { Backups, giveSnapshots } from "../backup/backups.ts";
import { credentials, FakeWorld, failure } from "../talos/fakeNodes.ts";

const names = ["cp-1", "cp-2", "cp-3"];

describe("machines in place of lost control planes (S7.3)", () => {
  let backups: Backups;
  let fake: FakeWorld;
  beforeEach(async () => {
    backups = await Backups.make();
    fake = new FakeWorld();
  });
  afterEach(() => backups.remove());

  /** With other machines than `1` for some. */
  const inputs = (machines: Readonly<Record<string, string>> = {}): ReplacementBackupInputs => ({
    controlPlanes: names.map((name) => {
      return { name, address: name, talosAddress: name, machineId: machines[name] ?? "1" };
    }),
    ...{ credentials, backup: backups.policy, row: "the urn" },
  });
  const notes = (news: ReplacementBackupInputs) => operations.notes(inputs(), news).map(({ text }) => text);

  test("join after a backup was taken from the others", async () => {
    giveSnapshots(fake.addControlPlanes(names));
    const news = inputs({ "cp-2": "2" });
    expect(operations.difference(inputs(), news)).toEqual({ kind: "update" });
    expect(await operations.update(inputs(), news, fake)).toEqual(news);
    expect(backups.manifests).toMatchObject([
      { reason: "before another machine takes the place of cp-2", etcd: { node: "cp-1" } },
    ]);
  });

  test("do not join if no backup can be taken", async () => {
    fake.addControlPlanes(names);
    expect(await failure(operations.update(inputs(), inputs({ "cp-2": "2" }), fake))).toMatch(/^SLU-B107/);
  });

  test("need none if all were replaced: there is no etcd left", async () => {
    const news = inputs({ "cp-1": "2", "cp-2": "2", "cp-3": "2" });
    expect(await operations.update(inputs(), news, fake)).toEqual(news);
    expect(backups.manifests).toEqual([]);
  });

  test("are announced by a preview, also while their ids are unknown", () => {
    const unknown = inputs({ "cp-2": unknownValue });
    expect(notes(unknown)).toEqual([
      "cp-2: another machine joins in place of the one that was lost; a backup is taken before that; if it fails, nothing is changed",
    ]);
    expect(notes({ ...inputs(), controlPlanes: unknownValue as never })).toEqual([]);
    expect(notes(inputs())).toEqual([]);
  });

  test("are no control planes that are added or removed: those are only recorded", () => {
    const { controlPlanes, ...rest } = inputs();
    expect(operations.difference(inputs(), inputs())).toEqual({ kind: "none" });
    expect(operations.difference(inputs(), { ...rest, controlPlanes: controlPlanes.slice(1) })).toEqual({
      kind: "record",
    });
  });
});
