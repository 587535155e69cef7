// Verifies an etcd snapshot while it streams past: by the hash at its end, and by opening it.
import { createHash } from "node:crypto";
import { SluiceError } from "../errors/sluiceError.ts";
import { type Bolt, BoltIndex } from "./boltIndex.ts";

/** etcd adds the SHA-256 of the database to it, whose length is a multiple of this. */
const blockLength = 512;
const hashLength = 32;

/** What a verified snapshot contains. */
export interface SnapshotFacts {
  /** etcd's revision: it grows with every change. */
  readonly revision: number;
  /** Records of all kinds, as `etcdutl snapshot status` counts them. */
  readonly records: number;
  /** In bytes, with the hash. */
  readonly size: number;
  /** Of the database, in hexadecimal: the hash at its end. */
  readonly sha256: string;
}

export class SnapshotCheck {
  private readonly hash = createHash("sha256");
  private readonly index = new BoltIndex();
  /** The end of what was read: the hash, at last. */
  private tail = Buffer.alloc(0);
  private size = 0;
  private failure: unknown;

  /** Accepts the snapshot as it comes, cut at any place. */
  read(chunk: Uint8Array): void {
    this.size += chunk.length;
    const bytes = Buffer.concat([this.tail, chunk]);
    const end = Math.max(0, bytes.length - hashLength);
    const body = bytes.subarray(0, end);
    this.tail = Buffer.from(bytes.subarray(end));
    this.hash.update(body);
    if (this.failure !== undefined) return;
    try {
      this.index.read(body);
    } catch (error) {
      this.failure = error;
    }
  }

  /** After the last chunk. */
  end(): SnapshotFacts {
    const { size, tail } = this;
    if (size % blockLength !== hashLength) {
      throw damaged(`it has ${size} bytes, and no hash at its end: it is cut off, or no snapshot`);
    }
    const sha256 = this.hash.digest("hex");
    if (sha256 !== tail.toString("hex")) throw damaged("its hash does not match: it is damaged");
    const { buckets } = this.open();
    const key = buckets.get("key");
    if (key === undefined || key.lastKey.length < 8) throw damaged("etcd's keys are missing in it");
    const records = [...buckets.values()].reduce((sum, bucket) => sum + bucket.records, 0);
    return { revision: Number(key.lastKey.readBigUInt64BE(0)), records, size, sha256 };
  }

  private open(): Bolt {
    try {
      if (this.failure !== undefined) throw this.failure;
      return this.index.open();
    } catch (error) {
      throw damaged((error as Error).message, error);
    }
  }
}

function damaged(seen: string, cause?: unknown): SluiceError {
  return new SluiceError({ code: "SLU-B101", seen, cause });
}
