// Children that run unseen end together with this process. Without this, a signal to this process alone would leave
// them at work: a Go build goes on for minutes, and the next run would find it in its way.
import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Milliseconds that a child may take to put things in order. */
const ordinaryGrace = 10_000;

/** Each with its grace. */
const children = new Map<ChildProcess, number>();
let ending: (typeof signals)[number] | undefined;

/** Starts a child that a signal to this process ends as well; call `release` once it has ended. */
export function startBound<Child extends ChildProcess>(
  start: () => Child,
  grace = ordinaryGrace,
): { child: Child; release: () => void } {
  // Before the child is there: a signal in between would end this process and leave it at work.
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
    // Asked a second time: at once.
    for (const child of children.keys()) child.kill("SIGKILL");
    leave(signal);
  }
  ending = signal;
  for (const [child, grace] of children) askToEnd(child, grace);
}

/** Asks a child to end, and makes it once its grace is over. */
export function askToEnd(child: ChildProcess, grace = ordinaryGrace): void {
  // Whatever the reason: the go command and Packer leave nothing behind on this signal only.
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), grace).unref();
  child.once("exit", () => clearTimeout(timer));
}

function leave(signal: (typeof signals)[number]): never {
  console.error(`\nsluice: ended by ${signal}`);
  process.exit(128 + constants.signals[signal]);
}
