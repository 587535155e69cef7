// The file in which a run's own times are: the engine's providers write to it what their resources did.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { TraceLine } from "../../components/trace/trace.ts";

/** A run, by milliseconds since 1970. */
export interface RunTrace {
  readonly began: number;
  readonly lines: readonly TraceLine[];
}

/** Begins the trace of a run; what was there of an earlier one is gone. */
export async function startTrace(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ run: Date.now() })}\n`, { mode: 0o600 });
}

/** Undefined where no trace was begun. */
export async function readTrace(file: string): Promise<RunTrace | undefined> {
  return parseTrace(await readFile(file, "utf8").catch(() => ""));
}

export function parseTrace(text: string): RunTrace | undefined {
  const entries = text
    .split("\n")
    // A line that a killed run has left half written tells nothing.
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as { readonly run: number } | TraceLine];
      } catch {
        return [];
      }
    });
  const start = entries.find((entry) => "run" in entry);
  if (start === undefined) return undefined;
  return { began: start.run, lines: entries.filter((entry) => "type" in entry) };
}
