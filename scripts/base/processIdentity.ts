import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

/** Identifies one process permanently: its number may be reused, but not together with its start time in ticks since boot. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly start: number;
  /** The id of the current boot. */
  readonly boot: string;
}

/** Whether exactly this process is running. */
export function isAlive(identity: ProcessIdentity): boolean {
  const { pid } = identity;
  const start = startOf(pid);
  if (start === undefined) return false;
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return isDeepStrictEqual({ pid, start, boot }, { ...identity });
}

/** When the process with this number started, in ticks; undefined if there is none, or if it is a zombie. */
export function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name, in brackets, may contain anything; the fields are after it.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : Number(fields[18]);
  } catch {
    return undefined;
  }
}
