// Distinguishes a child that works silently from one that hangs.
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Number of checks in one stall time. Counting them is safer than the clock, which continues while both processes are stopped. */
const checks = 10;

/** Bytes read in one stall time that do not count as activity: a program that retries in vain reads its settings again. */
const noise = 64 * 1024;

/** Calls `onStall` once when the child has neither printed nor read anything for `stallAfter` milliseconds. */
export function watchForStall(
  child: ChildProcess,
  stallAfter: number,
  onStall: () => void,
): { heard(): void; stop(): void } {
  let silent = 0;
  let read = bytesRead(child.pid);
  const heard = () => {
    silent = 0;
    read = bytesRead(child.pid);
  };
  const timer = setInterval(() => {
    silent += 1;
    if (bytesRead(child.pid) - read > noise) heard();
    if (silent < checks) return;
    clearInterval(timer);
    onStall();
  }, stallAfter / checks);
  return { heard, stop: () => clearInterval(timer) };
}

/** All that the process has read, from files and connections; 0 if unknown. */
function bytesRead(pid: number | undefined): number {
  try {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
