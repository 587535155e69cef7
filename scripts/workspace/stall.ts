// Tells a child that is at work without a word from one that waits for ever.
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

/** Looks in one stall time. Counted, not measured by the clock: that runs on while both are stopped. */
const looks = 10;

/** Bytes read in one stall time that are no sign of life: a program that tries in vain reads its settings again. */
const noise = 64 * 1024;

/** Calls `onStall` once when the child has neither said nor read anything for `stallAfter` milliseconds. */
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
    if (silent < looks) return;
    clearInterval(timer);
    onStall();
  }, stallAfter / looks);
  return { heard, stop: () => clearInterval(timer) };
}

/** All that the process has read, from files and connections alike; 0 where that cannot be known. */
function bytesRead(pid: number | undefined): number {
  try {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
