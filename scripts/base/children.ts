// Ends background child processes together with this process. Otherwise a signal to this process alone would leave them running: a Go build continues for
// minutes and blocks the next run.
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Milliseconds that a child may take to clean up. */
const ordinaryGrace = 10_000;

/** Each with its grace period. */
const children = new Map<ChildProcess, number>();
let ending: (typeof signals)[number] | undefined;

/** Starts a child that also ends when this process gets a signal; call `release` once it has ended. */
export function startBound<Child extends ChildProcess>(
  start: () => Child,
  grace = ordinaryGrace,
): { child: Child; release: () => void } {
  // Registered before the child starts: a signal in between would end this process and leave the child running.
  if (children.size === 0) for (const signal of signals) process.on(signal, end);
  const child = start();
  children.set(child, grace);
  const release = () => {
    children.delete(child);
    if (children.size > 0) return;
    if (ending !== undefined) leave(ending);
    for (const signal of signals) process.off(signal, end);
  };
  return { child, release };
}

function end(signal: (typeof signals)[number]): void {
  if (ending !== undefined) {
    // On a second signal: kill at once.
    for (const child of children.keys()) child.kill("SIGKILL");
    leave(signal);
  }
  ending = signal;
  for (const [child, grace] of children) askToEnd(child, grace);
}

/** Asks a child to end, and kills it after its grace period. */
export function askToEnd(child: ChildProcess, grace = ordinaryGrace): void {
  // Always this signal: only on this one do the go command and Packer leave nothing behind.
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), grace).unref();
  child.once("exit", () => clearTimeout(timer));
}

function leave(signal: (typeof signals)[number]): never {
  console.error(`\nsluice: ended by ${signal}`);
  process.exit(128 + constants.signals[signal]);
}
