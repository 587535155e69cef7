import type { StoredFile } from "./manifest.ts";
import type { Listed } from "./retention.ts";

/** Where the backups of one cluster are stored, each with its files under its name. */
export interface BackupTarget {
  /** As the user knows it: a folder, or `s3://bucket/prefix`. */
  readonly title: string;
  /** All names, complete or not, in no order. */
  list(): Promise<readonly Listed[]>;
  /** Rejects with SLU-B103 if there is no such file. */
  read(name: string, file: string): AsyncIterable<Uint8Array>;
  /** Stores what was written to a folder: completely or not at all. `files` are all but the manifest, which is stored last. */
  store(name: string, folder: string, files: Readonly<Record<string, StoredFile>>): Promise<void>;
  remove(name: string): Promise<void>;
}
