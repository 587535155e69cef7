import { describe, expect, test } from "@jest/globals";
import type { BackupManifest } from "../../../components/backup/manifest.ts";
import { ageWords, listLines, takenLines, verifiedLines } from "../../../scripts/backup/backupWords.ts";

const manifest: BackupManifest = {
  format: 1,
  takenAt: "2026-11-20T05:12:33Z",
  reason: "before cp-1 leaves the cluster",
  cluster: { name: "home", id: "id", talosVersion: "1.13.8", kubernetesVersion: "1.36.4", nodes: [] },
  etcd: { node: "cp-2", revision: 1106, records: 1114, size: 12_345_678, sha256: "00" },
  recipients: ["age1a", "age1b"],
  files: { "etcd.db.gz.age": { size: 2_000_000, sha256: "01" }, "secrets.yaml.age": { size: 100_000, sha256: "02" } },
};
const name = "2026-11-20T05-12-33Z";
const title = "s3://backups/sluice/home";

describe("what npm run backup prints (S7.3)", () => {
  test("is what was taken, where it is, and what was deleted", () => {
    expect(takenLines({ name, manifest, removed: ["2026-10-01T05-12-33Z"], title })).toEqual([
      "2026-11-20T05-12-33Z in s3://backups/sluice/home",
      "  etcd: revision 1106, 1114 records, 12.3 MB, from cp-2; verified",
      "  stored: 2.1 MB, encrypted for 2 age public keys",
      "  deleted, because there are newer ones: 2026-10-01T05-12-33Z",
    ]);
    const [, , , last] = takenLines({ name, manifest, removed: [], problem: "access denied", title });
    expect(last).toBe("  old ones could not be deleted: access denied");
  });

  test("is a list in eighty columns, also with a manifest that cannot be read", () => {
    const now = Date.parse("2026-11-20T08:12:33Z");
    const backups = [
      { name, manifest },
      { name: "2026-11-18T05-12-33Z", problem: "its manifest cannot be read" },
    ];
    expect(listLines("home", { title, backups }, now)).toEqual([
      title,
      "  Backup                   Age  Revision    Size  Kubernetes  Reason",
      "  2026-11-20T05-12-33Z     3 h      1106  2.0 MB  1.36.4      before cp-1 leaves the cluster",
      "  2026-11-18T05-12-33Z  2 days                                its manifest cannot be read",
    ]);
    expect(listLines("home", { title, backups: [] }, now)).toEqual([
      "s3://backups/sluice/home has no backup: 'npm run backup -- home' takes one.",
    ]);
  });

  test("says of a verified backup whether it was decrypted", () => {
    expect(verifiedLines({ name, manifest, isOpened: true })[0]).toMatch(/is complete: decrypted, hash right/);
    expect(verifiedLines({ name, manifest, isOpened: false })).toHaveLength(2);
  });

  test.each([
    [0, "0 min"],
    [119, "119 min"],
    [120, "2 h"],
    [47 * 60, "47 h"],
    [48 * 60, "2 days"],
  ])("has the age of %d minutes as %s", (minutes, words) => {
    expect(ageWords(minutes * 60_000)).toBe(words);
  });
});
