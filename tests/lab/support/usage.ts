// What a lab costs the machine.
import { readFileSync } from "node:fs";
import { type Trace, ticks } from "./trace.ts";

/** Seconds of processor time that the lab's processes have used so far. */
export function processorSeconds({ processes }: Trace): number {
  return total(processes, (pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const columns = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(columns[11]) + Number(columns[12])) / ticks;
  });
}

/** GiB that they use; shared memory is counted once. */
export function memory({ processes }: Trace): number {
  return total(processes, (pid) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss: +(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 2 ** 20;
  });
}

function total(processes: readonly string[], of: (pid: string) => number): number {
  return processes.reduce((sum, pid) => sum + of(pid), 0);
}
