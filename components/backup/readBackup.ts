// Reads a stored backup: finds it, verifies it, and opens it with an age identity.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { SluiceError } from "../errors/sluiceError.ts";
import { clusterIdentifier, isBundle, readBundle, type SecretsBundle } from "../talos/secrets/secretsBundle.ts";
import type { Chunks } from "./ageFile.ts";
import { decrypted } from "./ageLibrary.ts";
import { type BackupManifest, isBackupName, manifestFile, secretsFile, snapshotFile } from "./manifest.ts";
import { readManifest } from "./readManifest.ts";
import { SnapshotCheck } from "./snapshotCheck.ts";
import type { BackupTarget } from "./target.ts";

/** What is true of a backup that was verified. */
export interface VerifiedBackup {
  readonly name: string;
  readonly manifest: BackupManifest;
  /** Whether it was decrypted too, and etcd's database opened. */
  readonly isOpened: boolean;
}

/** The names of the complete backups, the newest first. */
export async function completeNames(target: BackupTarget): Promise<readonly string[]> {
  const listed = await target.list();
  const names = listed.filter(({ name, isComplete }) => isComplete && isBackupName(name)).map(({ name }) => name);
  return names.toSorted().toReversed();
}

/** The backup that a user names: its own name, or `latest`. Rejects with SLU-B103 if there is none. */
export async function resolveName(target: BackupTarget, wanted: string): Promise<string> {
  const names = await completeNames(target);
  const found = wanted === "latest" ? names[0] : names.find((name) => name === wanted);
  if (found !== undefined) return found;
  const newest = names.length === 0 ? "it has none" : `the newest is ${names[0]}`;
  const seen = `${target.title} has no complete backup${wanted === "latest" ? "" : ` ${wanted}; ${newest}`}`;
  throw new SluiceError({ code: "SLU-B103", where: wanted, seen });
}

export async function manifestOf(target: BackupTarget, name: string): Promise<BackupManifest> {
  return readManifest((await buffer(target.read(name, manifestFile))).toString("utf8"), name);
}

/** Downloads all of it. With identities it is decrypted and opened, too. Rejects with what is wrong with it. */
export async function verifyBackup(
  target: BackupTarget,
  name: string,
  identities?: readonly string[],
): Promise<VerifiedBackup> {
  const manifest = await manifestOf(target, name);
  if (identities === undefined) {
    for (const file of [snapshotFile, secretsFile]) await drained(stored(target, name, file, manifest));
    return { name, manifest, isOpened: false };
  }
  await drained(openSnapshot(target, name, manifest, identities));
  await openSecrets(target, name, manifest, identities);
  return { name, manifest, isOpened: true };
}

/** The etcd snapshot in plain text. Rejects at its end if it is not the one that was stored. */
export async function* openSnapshot(
  target: BackupTarget,
  name: string,
  manifest: BackupManifest,
  identities: readonly string[],
): AsyncGenerator<Uint8Array> {
  const check = new SnapshotCheck();
  const file = stored(target, name, snapshotFile, manifest);
  for await (const chunk of unzipped(decrypted(file, identities, name), name)) {
    check.read(chunk);
    yield chunk;
  }
  const { sha256 } = check.end();
  if (sha256 !== manifest.etcd.sha256) {
    throw new SluiceError({
      code: "SLU-B101",
      where: name,
      seen: "it is not the snapshot that its manifest describes",
    });
  }
}

/** The machine secrets that belong to the snapshot. */
export async function openSecrets(
  target: BackupTarget,
  name: string,
  manifest: BackupManifest,
  identities: readonly string[],
): Promise<SecretsBundle> {
  const file = stored(target, name, secretsFile, manifest);
  const bundle = readBundle((await buffer(decrypted(file, identities, name))).toString("utf8"));
  if (isBundle(bundle) && clusterIdentifier(bundle) === manifest.cluster.id) return bundle;
  const seen = isBundle(bundle)
    ? "its machine secrets are those of another cluster"
    : "its machine secrets are incomplete";
  throw new SluiceError({ code: "SLU-B103", where: name, seen });
}

/** A file as it is stored. Rejects at its end if it is not what the manifest describes. */
async function* stored(
  target: BackupTarget,
  name: string,
  file: string,
  { files }: BackupManifest,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of target.read(name, file)) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest("hex") === files[file]?.sha256) return;
  throw new SluiceError({
    code: "SLU-B103",
    where: name,
    seen: `${file} is damaged: its hash is not the one in the manifest`,
  });
}

async function* unzipped(zipped: Chunks, where: string): AsyncGenerator<Uint8Array> {
  const unzip = createGunzip();
  let failed: unknown;
  pipeline(Readable.from(zipped), unzip).catch((error) => {
    failed = error;
    unzip.destroy(error);
  });
  try {
    yield* unzip as Chunks;
  } catch (error) {
    const cause = failed ?? error;
    if (cause instanceof SluiceError) throw cause;
    throw new SluiceError({ code: "SLU-B101", where, seen: (cause as Error).message, cause });
  }
}

async function drained(chunks: Chunks): Promise<void> {
  for await (const _ of chunks);
}
