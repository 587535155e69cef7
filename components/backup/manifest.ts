// What a backup consists of. docs/backup.md

/** The etcd snapshot, compressed and encrypted. */
export const snapshotFile = "etcd.db.gz.age";
/** The machine secrets as Talos' secrets.yaml, encrypted. */
export const secretsFile = "secrets.yaml.age";
/** Written last: a backup without it is not complete, and does not count. */
export const manifestFile = "manifest.json";

/** A file of a backup, as it is stored. */
export interface StoredFile {
  /** In bytes. */
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** A node when the backup was taken. */
export interface BackedUpNode {
  readonly name: string;
  readonly role: string;
  readonly address: string;
  /** Of its machine. Unknown if it did not answer, and in backups that the cluster itself takes. */
  readonly uuid?: string | undefined;
  readonly talosVersion?: string | undefined;
  readonly schematic?: string | undefined;
  /** SHA-256 of its machine config. */
  readonly configHash?: string | undefined;
}

/** The cluster when the backup was taken. */
export interface ClusterRecord {
  readonly name: string;
  /** Derived from the machine secrets: a backup is restored into no other cluster. */
  readonly id: string;
  readonly talosVersion: string;
  readonly kubernetesVersion: string;
  readonly nodes: readonly BackedUpNode[];
}

export interface BackupManifest {
  readonly format: 1;
  /** In UTC, ISO 8601. */
  readonly takenAt: string;
  /** Why: "on request", "on schedule", "before cp-1 leaves the cluster". */
  readonly reason: string;
  readonly cluster: ClusterRecord;
  readonly etcd: {
    /** The control plane that it is from. */
    readonly node: string;
    readonly revision: number;
    readonly records: number;
    /** Of the snapshot itself, in bytes. */
    readonly size: number;
    readonly sha256: string;
  };
  /** The age public keys that the files are encrypted for. */
  readonly recipients: readonly string[];
  readonly files: Readonly<Record<string, StoredFile>>;
}

/** The name of a backup is the time when it was taken, so that names sort by age. */
export function backupName(takenAt: string): string {
  return takenAt.replace(/\.\d+Z$/, "Z").replaceAll(":", "-");
}

const namePattern = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z$/;

export function isBackupName(name: string): boolean {
  return namePattern.test(name);
}

/** When a backup with this name was taken, in milliseconds since 1970. */
export function timeOf(name: string): number {
  const [, day, hours, minutes, seconds] = namePattern.exec(name) ?? [];
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
}

/** Whether a user names a folder, and no backup of the environment's target. */
export function isPath(backup: string): boolean {
  return /[/.]/.test(backup);
}
