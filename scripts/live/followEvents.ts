// Reads the engine's event log while the engine writes it: JSON, one event a line.
import type { ReadableLog } from "../base/eventLog.ts";

export interface StepEvent {
  readonly metadata: { readonly op: string; readonly urn: string };
  /** Of a preview. */
  readonly planning?: boolean;
}

/** What is read of an event. */
export interface LiveEvent {
  readonly resourcePreEvent?: StepEvent;
  readonly resOutputsEvent?: StepEvent;
  readonly resOpFailedEvent?: StepEvent;
  readonly diagnosticEvent?: { readonly urn?: string; readonly message: string; readonly severity: string };
  readonly summaryEvent?: { readonly isPreview?: boolean };
}

/** Follows a log, from that of the preview to that of the update. */
export class EventFollower {
  private readonly log: ReadableLog;
  private part: number;
  private offset = 0;
  private rest = "";

  constructor(log: ReadableLog) {
    this.log = log;
    this.part = log.part;
  }

  /** The events since the last call, and whether they are the first of the update that a preview was shown for. */
  next(): { readonly events: readonly LiveEvent[]; readonly isUpdate: boolean } {
    const { size } = this.log;
    const isUpdate = this.log.part !== this.part;
    if (isUpdate) [this.part, this.offset, this.rest] = [this.log.part, 0, ""];
    if (size === this.offset) return { events: [], isUpdate };
    const read = this.log.read(this.offset, size);
    this.offset += read.length;
    const lines = `${this.rest}${read.toString()}`.split("\n");
    this.rest = lines.pop() ?? "";
    return { events: lines.flatMap(parsed), isUpdate };
  }
}

/** A line that was cut off is no event. */
function parsed(line: string): LiveEvent[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
