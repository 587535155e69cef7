// Backups in a bucket of an object store.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRetryableApiError } from "../api/apiError.ts";
import type { S3Bucket } from "../api/s3Api.ts";
import { SluiceError } from "../errors/sluiceError.ts";
import type { Clock } from "../waiting/clock.ts";
import { retryApi } from "../waiting/retry.ts";
import { manifestFile, type StoredFile } from "./manifest.ts";
import type { Listed } from "./retention.ts";
import type { BackupTarget } from "./target.ts";

/** Seconds in which a call that fails transiently is repeated. */
const retrySeconds = 60;

export class S3Target implements BackupTarget {
  readonly title: string;
  private readonly bucket: S3Bucket;
  private readonly prefix: string;
  private readonly clock: Clock;

  /** `prefix` has the backups of one cluster. */
  constructor(bucket: S3Bucket, prefix: string, clock: Clock) {
    this.bucket = bucket;
    this.prefix = `${prefix.replace(/\/$/, "")}/`;
    this.title = `s3://${bucket.place.bucket}/${this.prefix.replace(/\/$/, "")}`;
    this.clock = clock;
  }

  async list(): Promise<readonly Listed[]> {
    const objects = await this.calls(() => this.bucket.list(this.prefix));
    const files = objects.map(({ key }) => key.slice(this.prefix.length).split("/"));
    const names = new Set(files.flatMap(([name, file]) => (name && file ? [name] : [])));
    return [...names].map((name) => ({
      name,
      isComplete: files.some(([other, file]) => other === name && file === manifestFile),
    }));
  }

  async *read(name: string, file: string): AsyncGenerator<Uint8Array> {
    const content = await this.calls(() => this.bucket.get(this.keyOf(name, file)));
    if (content === undefined) {
      throw new SluiceError({ code: "SLU-B103", where: name, seen: `${file} is missing in ${this.title}` });
    }
    try {
      yield* content;
    } catch (error) {
      throw this.failure(error);
    }
  }

  async store(name: string, folder: string, files: Readonly<Record<string, StoredFile>>): Promise<void> {
    const manifest = await readFile(join(folder, manifestFile));
    const ofManifest = { size: manifest.length, sha256: createHash("sha256").update(manifest).digest("hex") };
    for (const [file, stored] of [...Object.entries(files), [manifestFile, ofManifest] as const]) {
      await this.calls(() => this.bucket.put(this.keyOf(name, file), join(folder, file), stored));
    }
  }

  /** The manifest first: what is left of an interrupted removal does not count as a backup. */
  async remove(name: string): Promise<void> {
    const objects = await this.calls(() => this.bucket.list(this.keyOf(name, "")));
    const keys = objects.map(({ key }) => key).toSorted((key) => (key.endsWith(`/${manifestFile}`) ? -1 : 1));
    for (const key of keys) await this.calls(() => this.bucket.remove(key));
  }

  private keyOf(name: string, file: string): string {
    return `${this.prefix}${name}/${file}`;
  }

  private async calls<T>(call: () => Promise<T>): Promise<T> {
    const limits = { deadlineSeconds: retrySeconds, retryable: isRetryableApiError };
    const called = await retryApi(call, { ...limits, clock: this.clock, random: Math.random });
    if (called.ok) return called.value;
    throw this.failure(called.error);
  }

  private failure(cause: unknown): SluiceError {
    return new SluiceError({ code: "SLU-B102", where: this.title, seen: (cause as Error).message, cause });
  }
}
