// `node measured.ts <report> <program> [argument ...]` runs a program, and writes what it and everything that it started took: seconds, processor time and
// peak memory. It is started where the program would be, because only there are all its processes in /proc.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import type { Usage } from "./figures.ts";

const everyMs = 100;

/** Of the kernel's times in /proc. */
const ticksPerSecond = 100;

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** A pid may be used again; a pid with its start time is not. */
  readonly id: string;
  readonly cpuSeconds: number;
}

const [report = "", program = "", ...args] = process.argv.slice(2);
const cpu = new Map<string, number>();
let peakMegabytes = 0;

const began = performance.now();
const child = spawn(program, args, { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
const timer = setInterval(look, everyMs);
child.on("error", (error) => {
  clearInterval(timer);
  console.error(`cannot start ${program}: ${error.message}`);
  process.exitCode = 127;
});
child.on("exit", (code, signal) => {
  clearInterval(timer);
  const cpuSeconds = [...cpu.values()].reduce((sum, one) => sum + one, 0);
  const usage: Usage = { seconds: (performance.now() - began) / 1000, cpuSeconds, peakMegabytes };
  writeFileSync(report, JSON.stringify(usage));
  process.exitCode = code ?? 128 + constants.signals[signal ?? "SIGKILL"];
});

/** A process whose parent has ended stays among them: it was seen before. */
function look(): void {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (processOf(Number(name)) ?? []) : []));
  const mine = new Set<number>(child.pid === undefined ? [] : [child.pid]);
  for (let before = -1; before !== mine.size; ) {
    before = mine.size;
    for (const { pid, parent, id } of all) if (mine.has(parent) || cpu.has(id)) mine.add(pid);
  }
  let megabytes = 0;
  for (const { pid, id, cpuSeconds } of all) {
    if (!mine.has(pid)) continue;
    cpu.set(id, cpuSeconds);
    megabytes += megabytesOf(pid);
  }
  peakMegabytes = Math.max(peakMegabytes, megabytes);
}

function processOf(pid: number): Process | undefined {
  const stat = read(pid, "stat");
  // The name, in parentheses, may contain anything.
  const columns = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (columns.length < 20) return undefined;
  const [user, system] = [Number(columns[11]), Number(columns[12])];
  return {
    pid,
    parent: Number(columns[1]),
    id: `${pid} ${columns[19]}`,
    cpuSeconds: (user + system) / ticksPerSecond,
  };
}

/** What several processes share is counted once. */
function megabytesOf(pid: number): number {
  return Number(/^Pss: +(\d+) kB$/m.exec(read(pid, "smaps_rollup"))?.[1] ?? 0) / 1024;
}

/** Empty if the process has ended meanwhile. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
