// The engine's event log. It has secrets in plain text: the engine masks those of resources in it, but not those in its own debug messages. So no folder has
// it: it loses its name when the engine begins to write it, and is gone with the processes that have it open, however they end.
import { closeSync, existsSync, type FSWatcher, fstatSync, openSync, readSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary.ts";

/** A log that may still be written. */
export interface ReadableLog {
  /** The engine writes one for the preview, and another for the update: which of them it is. */
  readonly part: number;
  readonly size: number;
  read(from: number, to: number): Buffer;
}

interface OpenFile {
  readonly file: number;
  readonly watcher: FSWatcher | undefined;
}

let count = 0;

export class EventLog implements ReadableLog {
  /** Where the engine is to write it: always the name of an empty file. */
  readonly path: string;
  part = 0;
  private readonly listeners: (() => void)[] = [];
  private written: OpenFile | undefined;
  private offered: OpenFile;

  constructor(folder = temporaryFolder()) {
    count += 1;
    this.path = join(folder, `events-${count}.json`);
    this.offered = this.offer();
  }

  /** Calls a function when the log has changed, where the system reports that. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  get size(): number {
    this.notice();
    return this.written === undefined ? 0 : fstatSync(this.written.file).size;
  }

  read(from: number, to: number): Buffer {
    if (this.written === undefined) return Buffer.alloc(0);
    const buffer = Buffer.alloc(to - from);
    return buffer.subarray(0, readSync(this.written.file, buffer, 0, buffer.length, from));
  }

  /** What the engine wrote last, from its beginning. */
  whole(): Buffer {
    return this.read(0, this.size);
  }

  close(): void {
    rmSync(this.path, { force: true });
    for (const one of [this.written, this.offered]) release(one);
  }

  /** Takes the name from a file that the engine has started to write, and gives it to another one. */
  private notice(): void {
    if (fstatSync(this.offered.file).size === 0) return;
    if (this.written !== undefined) {
      release(this.written);
      this.part += 1;
    }
    this.written = this.offered;
    rmSync(this.path, { force: true });
    this.offered = this.offer();
  }

  private offer(): OpenFile {
    // The engine may have created it before.
    const file = openSync(this.path, existsSync(this.path) ? "r" : "wx+", 0o600);
    return { file, watcher: this.watched() };
  }

  /** The system watches the file itself, also when it has lost its name. */
  private watched(): FSWatcher | undefined {
    try {
      const watcher = watch(this.path, { persistent: false }, () => {
        this.notice();
        for (const listener of this.listeners) listener();
      });
      return watcher.on("error", () => watcher.close());
    } catch {
      return undefined;
    }
  }
}

function release(one: OpenFile | undefined): void {
  one?.watcher?.close();
  if (one !== undefined) closeSync(one.file);
}
