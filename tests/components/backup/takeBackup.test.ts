import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { decrypted } from "../../../components/backup/ageLibrary.ts";
import { FolderTarget } from "../../../components/backup/folderTarget.ts";
import { manifestFile, secretsFile, snapshotFile } from "../../../components/backup/manifest.ts";
import { readManifest } from "../../../components/backup/readManifest.ts";
import type { SnapshotSource } from "../../../components/backup/snapshotSources.ts";
import { type BackupPlan, takeBackup } from "../../../components/backup/takeBackup.ts";
import { snapshot } from "./backups.ts";

const now = Date.parse("2026-11-20T05:12:33Z");
const name = "2026-11-20T05-12-33Z";
const cluster = { name: "home", id: "the-id", talosVersion: "1.13.8", kubernetesVersion: "1.36.4", nodes: [] };
const plain = "cluster:\n  secret: of the cluster\n";

describe("a backup (S7.3)", () => {
  let folder: string;
  let identity: string;
  let plan: BackupPlan;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "sluice-backup-"));
    identity = await generateIdentity();
    plan = {
      cluster,
      sources: [source("cp-1", snapshot)],
      secrets: { plain },
      recipients: [await identityToRecipient(identity)],
      reason: "on request",
      target: new FolderTarget(join(folder, "backups", "home")),
      keep: 2,
      temporary: join(folder, "tmp"),
      now: () => now,
      report: () => undefined,
    };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const source = (node: string, ...chunks: readonly (Uint8Array | Error)[]): SnapshotSource => ({
    node,
    async *chunks() {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        yield chunk;
      }
    },
  });
  const stored = async (file: string) => buffer(plan.target.read(name, file));
  const opened = async (file: string) => buffer(decrypted(plan.target.read(name, file), [identity], file));

  test("has the snapshot, verified and encrypted, the machine secrets in a file of their own, and a manifest", async () => {
    const taken = await takeBackup(plan);
    expect(taken).toMatchObject({ name, removed: [] });
    expect(gunzipSync(await opened(snapshotFile)).equals(snapshot)).toBe(true);
    expect((await opened(secretsFile)).toString()).toBe(plain);
    const manifest = readManifest((await stored(manifestFile)).toString(), name);
    expect(manifest).toEqual(taken.manifest);
    expect(manifest.etcd).toEqual({
      node: "cp-1",
      revision: 1106,
      records: 1114,
      size: snapshot.length,
      sha256: snapshot.subarray(-32).toString("hex"),
    });
    expect(manifest.files[snapshotFile]?.size).toBe((await stored(snapshotFile)).length);
  });

  test("has no secret in plain text, files that only their owner can read, and leaves no temporary file", async () => {
    await takeBackup(plan);
    const home = join(folder, "backups", "home", name);
    for (const file of readdirSync(home)) {
      expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(home, file), "latin1")).not.toContain("of the cluster");
    }
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  test.each([
    ["is cut off", [snapshot.subarray(0, 100_000)]],
    ["breaks off with its connection", [snapshot.subarray(0, 100_000), new Error("the connection broke")]],
  ])("does not exist if every snapshot %s", async (_, chunks) => {
    await expect(takeBackup({ ...plan, sources: [source("cp-1", ...chunks)] })).rejects.toThrow();
    expect(await plan.target.list()).toEqual([]);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  test("is taken from the next control plane if the snapshot of the first one is damaged", async () => {
    const sources = [source("cp-1", snapshot.subarray(0, 100_000)), source("cp-2", snapshot)];
    expect((await takeBackup({ ...plan, sources })).manifest.etcd.node).toBe("cp-2");
  });

  test("takes the place of the oldest one once there are as many as the target keeps", async () => {
    for (const day of [1, 2, 3]) await takeBackup({ ...plan, now: () => now + day * 86_400_000 });
    const taken = await takeBackup({ ...plan, now: () => now + 4 * 86_400_000 });
    expect(taken.removed).toEqual(["2026-11-22T05-12-33Z"]);
    expect((await plan.target.list()).map((one) => one.name).sort()).toEqual([
      "2026-11-23T05-12-33Z",
      "2026-11-24T05-12-33Z",
    ]);
  });

  test("is reported as an unusable target if nothing can be written there", async () => {
    writeFileSync(join(folder, "backups"), "a file");
    await expect(takeBackup(plan)).rejects.toThrow(/SLU-B102 .*\n.*where: .*backups\/home/);
  });

  test("cannot be read where it is missing, or its manifest is damaged", async () => {
    await expect(stored(manifestFile)).rejects.toThrow(/SLU-B103 .*\n.*\n.*manifest\.json is missing/);
    expect(() => readManifest("{", name)).toThrow(/SLU-B103/);
    expect(() => readManifest('{"format":1,"takenAt":"now"}', name)).toThrow(/takenAt/);
  });

  test("cannot be decrypted by another identity, nor if it is damaged", async () => {
    await takeBackup(plan);
    const other = await generateIdentity();
    await expect(buffer(decrypted(plan.target.read(name, snapshotFile), [other], name))).rejects.toThrow(
      /SLU-B104 .*\n.*\n.*encrypted for other age public keys/,
    );
    const bytes = await stored(snapshotFile);
    bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
    async function* damaged() {
      yield bytes;
    }
    await expect(buffer(decrypted(damaged(), [identity], name))).rejects.toThrow(/SLU-B104 .*\n.*\n.*is damaged/);
  });
});
