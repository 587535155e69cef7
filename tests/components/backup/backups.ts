// A target for backups in tests, and the etcd snapshot that nodes give.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { generateIdentity, identityToRecipient } from "age-encryption";
import type { BackupPolicy } from "../../../components/backup/backupFirst.ts";
import type { BackupManifest } from "../../../components/backup/manifest.ts";
import { clusterIdentifier } from "../../../components/talos/secrets/secretsBundle.ts";
import { root } from "../../../scripts/base/paths.ts";
import { secretsBundle, secretsText } from "../../support/secretsFixture.ts";
import type { FakeNode } from "../talos/fakeNodes.ts";

/** Of an etcd 3.6.8 with 1106 changes: values that span pages, deleted keys and a compaction. `etcdutl snapshot status` counts the same records. */
export const snapshot = gunzipSync(readFileSync(join(root, "tests", "fixtures", "backup", "snapshot.db.gz")));
export const snapshotFacts = { revision: 1106, records: 1114, size: 352_288 };

/** A folder with the backups of the cluster `home`. */
export class Backups {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-backups-"));
  readonly identity: string;
  private readonly recipient: string;

  private constructor(identity: string, recipient: string) {
    this.identity = identity;
    this.recipient = recipient;
  }

  static async make(): Promise<Backups> {
    const identity = await generateIdentity();
    return new Backups(identity, await identityToRecipient(identity));
  }

  get policy(): BackupPolicy {
    return {
      place: { clusterName: "home", folder: this.folder, credentials: {} },
      recipients: [this.recipient],
      keep: 10,
      cluster: {
        name: "home",
        id: clusterIdentifier(secretsBundle),
        talosVersion: "1.13.8",
        kubernetesVersion: "1.36.4",
      },
      machineSecrets: secretsText,
    };
  }

  /** The manifests of all complete backups, oldest first. */
  get manifests(): readonly BackupManifest[] {
    const home = join(this.folder, "home");
    const names = readdirSync(this.folder).includes("home") ? readdirSync(home).sort() : [];
    return names.map((name) => JSON.parse(readFileSync(join(home, name, "manifest.json"), "utf8")));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** The nodes give this snapshot. */
export function giveSnapshots(nodes: readonly FakeNode[], chunks: readonly Uint8Array[] = [snapshot]): void {
  for (const node of nodes) node.snapshot = chunks;
}
