import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { SnapshotCheck } from "../../../components/backup/snapshotCheck.ts";
import { snapshot, snapshotFacts } from "./backups.ts";

function check(chunks: readonly Uint8Array[]) {
  const checked = new SnapshotCheck();
  for (const chunk of chunks) checked.read(chunk);
  return checked.end();
}

/** With the hash that belongs to it. */
function hashed(body: Uint8Array): readonly Uint8Array[] {
  return [body, createHash("sha256").update(body).digest()];
}

/** The database without its hash, changed. */
function changed(change: (body: Buffer) => void): readonly Uint8Array[] {
  const body = Buffer.from(snapshot.subarray(0, -32));
  change(body);
  return hashed(body);
}

describe("an etcd snapshot (S7.3)", () => {
  test("is verified by its hash and by opening it: its revision and its records are known then", () => {
    expect(check([snapshot])).toEqual({ ...snapshotFacts, sha256: snapshot.subarray(-32).toString("hex") });
  });

  test("is verified however it is cut into pieces", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const chunks: Buffer[] = [];
        for (let [at, index] = [0, 0]; at < snapshot.length; index += 1) {
          const length = lengths[index % lengths.length] ?? 1;
          chunks.push(snapshot.subarray(at, at + length));
          at += length;
        }
        expect(check(chunks)).toMatchObject(snapshotFacts);
      }),
      { numRuns: 15 },
    );
  });

  test.each([0, 1, 31, 32, 544, 4_096, 8_192, snapshot.length - 512, snapshot.length - 1])(
    "is refused if it ends after %d bytes",
    (length) => {
      expect(() => check([snapshot.subarray(0, length)])).toThrow(/SLU-B101/);
    },
  );

  test("is refused if any byte differs", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: snapshot.length - 1 }), (at) => {
        const other = Buffer.from(snapshot);
        other[at] = (other[at] ?? 0) ^ 0x40;
        expect(() => check([other])).toThrow(/its hash does not match/);
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ["is empty", changed((body) => body.fill(0)), "it is no database of etcd"],
    ["has no valid meta page", changed((body) => body.fill(1, 40, 90).fill(1, 4_136, 4_186)), "no valid meta page"],
    ["has no first page of its trees", changed((body) => body.fill(0, rootAt(body), rootAt(body) + 4_096)), "page"],
    ["is some other file", hashed(Buffer.alloc(2_048, "text")), "it is no database of etcd"],
  ])("is refused if its hash matches but it %s", (_, chunks, message) => {
    expect(() => check(chunks)).toThrow(message);
  });
});

/** Where the page is that the newest meta page names. */
function rootAt(body: Buffer): number {
  return Number(body.readBigUInt64LE(32)) * 4_096;
}
