// What `npm run backup` prints.
import type { BackupManifest } from "../../components/backup/manifest.ts";
import { timeOf } from "../../components/backup/manifest.ts";
import type { VerifiedBackup } from "../../components/backup/readBackup.ts";
import { inMegabytes, type TakenBackup } from "../../components/backup/takeBackup.ts";
import { count } from "../../components/model/count.ts";
import { table } from "../base/table.ts";

/** A backup in a list. */
export interface BackupEntry {
  readonly name: string;
  readonly manifest?: BackupManifest;
  /** Why its manifest cannot be read. */
  readonly problem?: string;
}

export function takenLines({ name, manifest, removed, problem, title }: TakenBackup & { readonly title: string }) {
  const { etcd, files, recipients } = manifest;
  const stored = Object.values(files).reduce((sum, { size }) => sum + size, 0);
  return [
    `${name} in ${title}`,
    `  etcd: revision ${etcd.revision}, ${etcd.records} records, ${inMegabytes(etcd.size)}, from ${etcd.node}; verified`,
    `  stored: ${inMegabytes(stored)}, encrypted for ${count(recipients.length, "age public key")}`,
    ...(removed.length > 0 ? [`  deleted, because there are newer ones: ${removed.join(", ")}`] : []),
    ...(problem === undefined ? [] : [`  old ones could not be deleted: ${problem}`]),
  ];
}

export function listLines(
  environment: string,
  { title, backups }: { readonly title: string; readonly backups: readonly BackupEntry[] },
  nowMs: number,
): readonly string[] {
  if (backups.length === 0) return [`${title} has no backup: 'npm run backup -- ${environment}' takes one.`];
  const columns = [
    { title: "Backup" },
    { title: "Age", align: "right" as const },
    { title: "Revision", align: "right" as const },
    { title: "Size", align: "right" as const },
    { title: "Kubernetes" },
    { title: "Reason", gives: true as const },
  ];
  const rows = backups.map(({ name, manifest, problem = "" }) => [
    name,
    ageWords(nowMs - timeOf(name)),
    ...(manifest === undefined
      ? ["", "", "", problem]
      : [
          `${manifest.etcd.revision}`,
          inMegabytes(manifest.files["etcd.db.gz.age"]?.size ?? 0),
          manifest.cluster.kubernetesVersion,
          manifest.reason,
        ]),
  ]);
  return [title, ...table(columns, rows)];
}

export function verifiedLines({ name, manifest, isOpened }: VerifiedBackup): readonly string[] {
  const { etcd, cluster } = manifest;
  const facts = `revision ${etcd.revision}, ${etcd.records} records, of the cluster ${cluster.name}`;
  return isOpened
    ? [`${name} is complete: decrypted, hash right, etcd's database opened: ${facts}`]
    : [
        `${name} is stored as it was taken: ${facts}`,
        "It was not decrypted: name the age identity's file with --identity <file> or in SLUICE_AGE_IDENTITY_FILE.",
      ];
}

/** "3 h", "2 days" */
export function ageWords(milliseconds: number): string {
  const minutes = Math.max(0, Math.round(milliseconds / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
