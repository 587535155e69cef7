import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ApiError } from "../../../components/api/apiError.ts";
import { S3Bucket } from "../../../components/api/s3Api.ts";
import { manifestFile, snapshotFile } from "../../../components/backup/manifest.ts";
import { S3Target } from "../../../components/backup/s3Target.ts";
import { sha256 } from "../../../components/model/contentHash.ts";
import { FakeClock } from "../talos/fakeClock.ts";
import { ObjectStore, problem } from "./objectStore.ts";

const credentials = { accessKey: "the-key", secretKey: "the-secret" };
const name = "2026-11-20T05-12-33Z";

describe("backups in a bucket (S7.3)", () => {
  let store: ObjectStore;
  let target: S3Target;
  let folder: string;
  beforeEach(async () => {
    store = new ObjectStore();
    await store.start();
    target = new S3Target(new S3Bucket(store.place, credentials), "talos/home", new FakeClock());
    folder = mkdtempSync(join(tmpdir(), "sluice-s3-"));
    writeFileSync(join(folder, snapshotFile), "the snapshot");
    writeFileSync(join(folder, manifestFile), "{}");
  });
  afterEach(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });

  const files = { [snapshotFile]: { size: 12, sha256: sha256("the snapshot") } };
  const puts = () => store.calls.filter((call) => call.startsWith("PUT"));

  test("are stored with the manifest last, listed page by page, read, and deleted with the manifest first", async () => {
    await target.store(name, folder, files);
    await target.store("2026-11-21T05-12-33Z", folder, files);
    store.objects.set("talos/home/2026-11-22T05-12-33Z/etcd.db.gz.age", Buffer.from("x"));
    store.objects.set("talos/homeland/2026-11-22T05-12-33Z/manifest.json", Buffer.from("x"));
    expect(puts().slice(0, 2)).toEqual([
      `PUT /backups/talos/home/${name}/etcd.db.gz.age`,
      `PUT /backups/talos/home/${name}/manifest.json`,
    ]);
    expect(await target.list()).toEqual([
      { name, isComplete: true },
      { name: "2026-11-21T05-12-33Z", isComplete: true },
      { name: "2026-11-22T05-12-33Z", isComplete: false },
    ]);
    expect((await buffer(target.read(name, snapshotFile))).toString()).toBe("the snapshot");
    store.calls.length = 0;
    await target.remove(name);
    expect(store.calls.filter((call) => call.startsWith("DELETE"))).toEqual([
      `DELETE /backups/talos/home/${name}/manifest.json`,
      `DELETE /backups/talos/home/${name}/etcd.db.gz.age`,
    ]);
    expect(target.title).toBe("s3://backups/talos/home");
  });

  test("survive calls that fail transiently", async () => {
    store.failures.push({ status: 503, body: problem("SlowDown", "later") }, { status: 500 });
    await target.store(name, folder, files);
    expect(await target.list()).toEqual([{ name, isComplete: true }]);
  });

  test.each([
    [{ status: 403, body: problem("AccessDenied", "no") }, "answers 403: AccessDenied: no"],
    [{ status: 404, body: problem("NoSuchBucket", "no bucket") }, "answers 404: NoSuchBucket: no bucket"],
    [{ status: 400, body: "what?" }, "answers 400"],
  ])("are refused in the words of the object store, at once: %j", async (failure, words) => {
    store.failures.push(failure);
    await expect(target.list()).rejects.toThrow(words);
    expect(store.calls).toHaveLength(1);
  });

  test("that are missing are no failure of the object store", async () => {
    await expect(buffer(target.read(name, manifestFile))).rejects.toThrow(
      /SLU-B103 .*\n.*\n.*manifest\.json is missing in s3:/,
    );
  });

  test("are never stored if they differ from what was hashed, and no message has a credential", async () => {
    const wrong = { [snapshotFile]: { size: 12, sha256: sha256("another snapshot") } };
    const error = await target.store(name, folder, wrong).then(String, (failure: Error) => failure.message);
    expect(error).toMatch(/SLU-B102 .*\n.*where: +s3:\/\/backups\/talos\/home\n.*XAmzContentSHA256Mismatch/);
    expect(error).not.toMatch(/the-key|the-secret|Signature/);
    expect(store.objects.size).toBe(0);
  });

  test("are reported as unreachable where nothing listens, with the reason", async () => {
    const bucket = new S3Bucket(store.place, credentials);
    await store.stop();
    await expect(bucket.list("")).rejects.toThrow(/does not answer: .*ECONNREFUSED/);
    await expect(bucket.list("")).rejects.toBeInstanceOf(ApiError);
    await store.start();
  });

  test("have the bucket in the host name if the environment wants that", async () => {
    const place = { ...store.place, endpoint: "https://s3.example.invalid", pathStyle: false };
    await expect(new S3Bucket(place, credentials).list("")).rejects.toThrow(
      /does not answer: .*backups\.s3\.example\.invalid/,
    );
  });
});
