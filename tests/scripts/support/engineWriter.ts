import { closeSync, constants, openSync, writeSync } from "node:fs";

/** Writes an event log as the engine does: it opens the file once, by its name, and keeps it open. */
export class EngineWriter {
  private file: number | undefined;

  constructor(path: string) {
    const { O_RDWR, O_CREAT, O_TRUNC, O_APPEND } = constants;
    this.file = openSync(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0o666);
  }

  write(text: string): void {
    if (this.file !== undefined) writeSync(this.file, text);
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}
