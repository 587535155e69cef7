// The row of the stack in the engine's display, for a process that is the engine's parent.
import { readFileSync } from "node:fs";
import type { EngineRow } from "../../components/engine/progress.ts";
import { type RunningProcess, runningProcesses } from "../base/processList.ts";

/** The engine passes its own address to its plugins: the only argument of that form. */
const address = /^127\.0\.0\.1:\d+$/;

/** Shows a text in that row. Does nothing before the first plugin runs. */
export class StackRow {
  private row: Promise<EngineRow> | undefined;

  show(text: string): void {
    const found = engineAddress(runningProcesses("PATH"), process.pid, argumentsOf);
    if (this.row === undefined && found === undefined) return;
    this.row ??= import("../../components/engine/progress.ts").then(({ engineRow }) => engineRow("", found));
    void this.row.then((row) => row.send(text));
  }

  /** An open connection would keep this process alive. */
  async close(): Promise<void> {
    (await this.row)?.close();
  }
}

/** The address of an engine that this process has started, from the arguments of one of its plugins. */
export function engineAddress(
  processes: readonly RunningProcess[],
  starter: number,
  commandOf: (pid: number) => readonly string[],
): string | undefined {
  const engines = new Set(processes.filter(({ parent }) => parent === starter).map(({ pid }) => pid));
  const plugins = processes.filter(({ parent }) => engines.has(parent));
  return plugins.flatMap(({ pid }) => commandOf(pid).filter((argument) => address.test(argument)))[0];
}

function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
