// Follows a run of the engine by its event log, and shows at the bottom of a terminal what it waits for.
import type { ReadableLog } from "../base/eventLog.ts";
import { EventFollower } from "./followEvents.ts";
import { ReservedLines, type Terminal } from "./reservedLines.ts";
import { RunView } from "./runView.ts";

const intervalMs = 200;
/** How far it is, and two of what it waits for. */
const lineCount = 3;

/** What was seen of a run. */
export interface WatchedRun<T> {
  readonly result: T;
  /** Milliseconds that its user took to answer the engine's question. */
  readonly askedMs: number;
}

/** With these the engine draws no table that the lines could stand below. */
const withoutTable = ["--json", "-j", "--diff", "-d", "--non-interactive", "--suppress-progress"];

/** Whether the engine draws its table, with these options. */
export function hasTable(options: readonly string[]): boolean {
  return !options.some((option) => withoutTable.includes(option.replace(/=.*$/, "")));
}

/** `log` is written by the engine that `run` runs. `terminal`: undefined where nothing is to be shown. */
export async function watchRun<T>(
  log: ReadableLog,
  run: () => Promise<T>,
  terminal: Terminal | undefined,
): Promise<WatchedRun<T>> {
  const follower = new EventFollower(log);
  const view = new RunView();
  const lines = terminal && new ReservedLines(terminal, lineCount);
  const poll = () => {
    const { events, isUpdate } = follower.next();
    if (isUpdate) view.answered(performance.now());
    view.apply(events, performance.now());
    if (terminal === undefined || lines === undefined) return;
    if (view.isUpdating) lines.show(view.lines(performance.now(), terminal.columns));
    else lines.end();
  };
  const timer = setInterval(() => {
    // That it cannot be shown is no reason for the run to end.
    try {
      poll();
    } catch {}
  }, intervalMs);
  const restore = () => lines?.end();
  process.on("exit", restore);
  try {
    const result = await run();
    return { result, askedMs: view.asked(performance.now()) };
  } finally {
    clearInterval(timer);
    process.off("exit", restore);
    restore();
  }
}
