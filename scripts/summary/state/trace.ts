// The trace of a run: a file in which providers record what their resources did and when.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TraceLine } from "../../../components/engine/trace.ts";
import { writeWhole } from "../../base/files.ts";
import { workFolder } from "../../base/paths.ts";

/** A run, by milliseconds since 1970. */
export interface RunTrace {
  readonly began: number;
  readonly lines: readonly TraceLine[];
}

/** Starts the trace of a run. */
export async function startTrace(file: string): Promise<void> {
  await writeFile(file, `${JSON.stringify({ run: Date.now() })}\n`, { mode: 0o600 });
}

/** Keeps the trace of a run that has ended as that of the environment's last `up`. */
export async function keepTrace(file: string, environment: string): Promise<void> {
  await mkdir(join(workFolder, "trace"), { recursive: true });
  await writeWhole(join(workFolder, "trace", `${environment}.jsonl`), await readFile(file, "utf8"), 0o600);
}

/** Undefined where no trace was started. */
export async function readTrace(file: string): Promise<RunTrace | undefined> {
  return parseTrace(await readFile(file, "utf8").catch(() => ""));
}

export function parseTrace(text: string): RunTrace | undefined {
  const entries = text
    .split("\n")
    // A killed run may leave a half-written line.
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
