// Records when the engine wrote each line of its event log. The engine's own times are full seconds; the growth of the log shows more.
import type { EventLog } from "../base/eventLog.ts";

/** A line, with milliseconds since 1970. */
export interface DatedLine {
  readonly at: number;
  readonly text: string;
}

/** The length of the log at a moment. */
export interface Growth {
  readonly at: number;
  readonly bytes: number;
}

/** Returns all lines. Where the system cannot report changes, only the engine's own moments are known. */
export function followLog(
  log: Pick<EventLog, "part" | "size" | "whole" | "onChange">,
  now = Date.now,
): () => DatedLine[] {
  let growth: Growth[] = [];
  let part = log.part;
  log.onChange(() => {
    const bytes = log.size;
    // The update has a log of its own.
    if (log.part !== part) [part, growth] = [log.part, []];
    growth.push({ at: now(), bytes });
  });
  return () => datedLines(log.whole(), growth);
}

/** A line was written when the log first was as long, within the second that the line itself has. */
export function datedLines(log: Buffer, growth: readonly Growth[]): DatedLine[] {
  const lines: DatedLine[] = [];
  let [start, place] = [0, 0];
  while (start < log.length) {
    const end = log.indexOf("\n", start);
    const text = log.toString("utf8", start, end < 0 ? log.length : end);
    start += Buffer.byteLength(text) + 1;
    while (place < growth.length && (growth[place]?.bytes ?? 0) < Math.min(start, log.length)) place += 1;
    const second = Number(/"timestamp":(\d+)/.exec(text)?.[1] ?? Number.NaN) * 1000;
    const seen = growth[place]?.at ?? second;
    lines.push({ at: Number.isNaN(second) ? seen : Math.min(Math.max(seen, second), second + 999), text });
  }
  return lines;
}
