// The results of soaks in a file, a line of JSON each, so that the figures of several can be summed.
import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Failure } from "../../base/fail.ts";
import type { SoakResult } from "./table.ts";

/** One cluster, as it is kept. */
export interface RecordedRun extends SoakResult {
  /** "hetzner 3+1, Talos 1.13.8" */
  readonly case: string;
  /** Faults and kill, in words. */
  readonly parts: readonly string[];
  /** The commit that was checked out, with "+" if files were changed. */
  readonly commit: string;
}

export function recordRun(file: string, run: RecordedRun): void {
  appendFileSync(file, `${JSON.stringify(run)}\n`);
}

export async function readRuns(files: readonly string[]): Promise<readonly RecordedRun[]> {
  return (await Promise.all(files.map(readFileOf))).flat();
}

async function readFileOf(file: string): Promise<readonly RecordedRun[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new Failure(`cannot read ${file}: ${error.message}`);
  });
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line, place) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Failure(`line ${place + 1} of ${file} is no JSON: only what --record wrote can be summed`);
    }
  });
}
