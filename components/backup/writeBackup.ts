// Writes the files of a backup into a folder. Nothing in plain text reaches the disk: the snapshot is verified, compressed and encrypted while it arrives.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Chunks } from "./ageFile.ts";
import { encrypted } from "./encrypted.ts";
import {
  type BackupManifest,
  type ClusterRecord,
  manifestFile,
  type StoredFile,
  secretsFile,
  snapshotFile,
} from "./manifest.ts";
import { SnapshotCheck, type SnapshotFacts } from "./snapshotCheck.ts";

export interface BackupContent {
  readonly cluster: ClusterRecord;
  /** From a control plane. */
  readonly snapshot: { readonly node: string; readonly chunks: Chunks };
  /** The machine secrets in Talos' own format: in plain text, or encrypted already. */
  readonly secrets: { readonly plain: string } | { readonly encrypted: Uint8Array };
  readonly recipients: readonly string[];
  readonly reason: string;
  /** In UTC, ISO 8601. */
  readonly takenAt: string;
  /** Called with the bytes of the snapshot that have arrived. */
  readonly onProgress?: (bytes: number) => void;
}

/** Writes all files; the manifest last. Rejects, without a manifest, if the snapshot is not what it should be. */
export async function writeBackup(folder: string, content: BackupContent): Promise<BackupManifest> {
  const { cluster, snapshot, secrets, recipients, reason, takenAt, onProgress } = content;
  const check = new SnapshotCheck();
  const arriving = observed(snapshot.chunks, (chunk, bytes) => {
    check.read(chunk);
    onProgress?.(bytes);
  });
  const stored = await writeFileOf(join(folder, snapshotFile), encrypted(zipped(arriving), recipients));
  const { revision, records, size, sha256 }: SnapshotFacts = check.end();
  const others =
    "encrypted" in secrets ? one(secrets.encrypted) : encrypted(one(Buffer.from(secrets.plain)), recipients);
  const manifest: BackupManifest = {
    format: 1,
    takenAt,
    reason,
    cluster,
    etcd: { node: snapshot.node, revision, records, size, sha256 },
    recipients,
    files: { [snapshotFile]: stored, [secretsFile]: await writeFileOf(join(folder, secretsFile), others) },
  };
  await writeFile(join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
  return manifest;
}

/** On the disk when it resolves. */
async function writeFileOf(path: string, chunks: Chunks): Promise<StoredFile> {
  const hash = createHash("sha256");
  let size = 0;
  const hashed = observed(chunks, (chunk, bytes) => {
    hash.update(chunk);
    size = bytes;
  });
  await pipeline(hashed, createWriteStream(path, { mode: 0o600, flush: true }));
  return { size, sha256: hash.digest("hex") };
}

function zipped(chunks: Chunks): Chunks {
  const zip = createGzip();
  // A failure of the source ends what reads from here.
  pipeline(Readable.from(chunks), zip).catch((error) => zip.destroy(error));
  return zip;
}

/** `see` gets each chunk, and how many bytes there were with it. */
async function* observed(chunks: Chunks, see: (chunk: Uint8Array, bytes: number) => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    see(chunk, bytes);
    yield chunk;
  }
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
