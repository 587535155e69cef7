// Opens etcd's database, a file of bbolt, while it streams past: its pages form trees, of which an index is kept and not the data. This proves that an etcd
// snapshot can be opened, and finds what it has. Format: go.etcd.io/bbolt, internal/common/{meta,page,bucket}.go.
import { Wants } from "./wants.ts";

const headerLength = 16;
const elementLength = 16;
const branchFlag = 0x01;
const leafFlag = 0x02;
const bucketFlag = 0x01;
const magic = 0xed0cdaed;
/** From the beginning of a meta page to its checksum. */
const metaLength = headerLength + 64;

/** Which trees there are, and in which state. */
interface Meta {
  readonly root: number;
  readonly transaction: bigint;
}

/** A page of a tree: the pages below it, or its records. */
interface Page {
  readonly below: readonly number[];
  readonly records: number;
  /** The key of the last record. */
  lastKey: Buffer;
  readonly buckets: Map<string, Bucket>;
}

/** A tree: its first page, or if it is small the page itself. */
type Bucket = number | Page;

/** What a database contains. */
export interface Bolt {
  /** By the names of the buckets: how many records each has, and the key of the last. */
  readonly buckets: ReadonlyMap<string, { readonly records: number; readonly lastKey: Buffer }>;
}

export class BoltIndex {
  private readonly wants = new Wants();
  private readonly metas: Meta[] = [];
  private readonly pages = new Map<number, Page>();
  private pageSize = 0;

  constructor() {
    this.wants.want(0, metaLength, (bytes) => {
      this.pageSize = bytes.readUInt32LE(headerLength + 8);
      const isPage = this.pageSize >= 1024 && this.pageSize <= 65536 && Number.isInteger(Math.log2(this.pageSize));
      if (bytes.readUInt32LE(headerLength) !== magic || !isPage) throw new Error("it is no database of etcd");
      this.takeMeta(bytes);
      this.wants.want(this.pageSize, metaLength, (other) => this.takeMeta(other));
      this.wantPage(2);
    });
  }

  read(chunk: Buffer): void {
    this.wants.read(chunk);
  }

  /** After the last chunk. Throws if a page of a tree was missing or unreadable. */
  open(): Bolt {
    const [meta] = this.metas.toSorted((one, other) => (one.transaction < other.transaction ? 1 : -1));
    if (meta === undefined) throw new Error("it is no database of etcd: it has no valid meta page");
    const buckets = new Map<string, Bucket>();
    for (const page of this.walk(meta.root)) for (const [name, bucket] of page.buckets) buckets.set(name, bucket);
    return { buckets: new Map([...buckets].map(([name, bucket]) => [name, this.contents(bucket)])) };
  }

  private contents(bucket: Bucket): { readonly records: number; readonly lastKey: Buffer } {
    let records = 0;
    let lastKey: Buffer = Buffer.alloc(0);
    for (const page of this.walk(bucket)) {
      records += page.records;
      if (page.records > 0) lastKey = page.lastKey;
    }
    return { records, lastKey };
  }

  /** All pages of a tree that have records, in the order of their keys. */
  private *walk(tree: Bucket, above: ReadonlySet<number> = new Set()): Generator<Page> {
    const page = typeof tree === "number" ? this.pages.get(tree) : tree;
    if (page === undefined) throw new Error(`page ${tree} is missing or damaged`);
    if (typeof tree === "number" && above.has(tree)) throw new Error(`page ${tree} is damaged: it contains itself`);
    if (page.below.length === 0) yield page;
    const path = typeof tree === "number" ? new Set([...above, tree]) : above;
    for (const one of page.below) yield* this.walk(one, path);
  }

  /** Of the two the newer valid one counts: a transaction that was interrupted has damaged the other. */
  private takeMeta(bytes: Buffer): void {
    const at = (offset: number) => bytes.readBigUInt64LE(headerLength + offset);
    if (bytes.readUInt32LE(headerLength) !== magic || at(56) !== fnv1a(bytes.subarray(headerLength, metaLength - 8)))
      return;
    this.metas.push({ root: Number(at(16)), transaction: at(48) });
  }

  /** Every page has a header with its own number. What else is at the beginning of a page belongs to a large one before it, or to none. */
  private wantPage(id: number): void {
    const start = id * this.pageSize;
    this.wants.want(start, headerLength, (header) => {
      const [own, flags, count] = [header.readBigUInt64LE(0), header.readUInt16LE(8), header.readUInt16LE(10)];
      const isTree = own === BigInt(id) && (flags === branchFlag || flags === leafFlag);
      if (isTree) {
        const take = (elements: Buffer) =>
          flags === branchFlag ? this.takeBranch(id, elements) : this.takeLeaf(id, start, elements);
        if (count === 0) take(Buffer.alloc(0));
        else this.wants.want(start + headerLength, count * elementLength, take);
      }
      this.wantPage(id + 1);
    });
  }

  private takeBranch(id: number, elements: Buffer): void {
    const below = positions(elements).map((at) => Number(elements.readBigUInt64LE(at + 8)));
    this.pages.set(id, { below, records: 0, lastKey: Buffer.alloc(0), buckets: new Map() });
  }

  private takeLeaf(id: number, start: number, elements: Buffer): void {
    const page: Page = {
      below: [],
      records: elements.length / elementLength,
      lastKey: Buffer.alloc(0),
      buckets: new Map(),
    };
    this.pages.set(id, page);
    const places = positions(elements).map((at) => leafElement(elements, at));
    for (const { flags, at, key, value } of places) {
      if (flags !== bucketFlag) continue;
      this.wants.want(start + headerLength + at, key + value, (bytes) => {
        page.buckets.set(bytes.subarray(0, key).toString("latin1"), bucketIn(bytes.subarray(key)));
      });
    }
    const last = places.at(-1);
    if (last === undefined || last.key > this.pageSize) return;
    this.wants.want(start + headerLength + last.at, last.key, (bytes) => {
      page.lastKey = bytes;
    });
  }
}

/** Where the elements of a page begin. */
function positions(elements: Buffer): readonly number[] {
  return Array.from({ length: elements.length / elementLength }, (_, index) => index * elementLength);
}

/** Where a record's key is, from the first element on, and the lengths of key and value. */
function leafElement(elements: Buffer, at: number) {
  const [flags, position] = [elements.readUInt32LE(at), elements.readUInt32LE(at + 4)];
  return { flags, at: at + position, key: elements.readUInt32LE(at + 8), value: elements.readUInt32LE(at + 12) };
}

/** A bucket names its first page, or contains it. */
function bucketIn(value: Buffer): Bucket {
  const root = Number(value.readBigUInt64LE(0));
  if (root !== 0) return root;
  const inline = value.subarray(headerLength);
  const records = inline.readUInt16LE(10);
  const elements = inline.subarray(headerLength, headerLength + records * elementLength);
  const last = records === 0 ? undefined : leafElement(elements, elements.length - elementLength);
  const key = last && inline.subarray(headerLength + last.at, headerLength + last.at + last.key);
  return { below: [], records, lastKey: Buffer.from(key ?? []), buckets: new Map() };
}

/** FNV-1a of 64 bits. */
function fnv1a(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash;
}
