// The processes of this host from /proc, including those in namespaces below this one.
import { readdirSync, readFileSync } from "node:fs";
import { startOf } from "./processIdentity.ts";

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** When it started, in ticks: together with the pid this identifies the process. */
  readonly start: number;
  /** The program's name, cut to 15 characters by the system. */
  readonly name: string;
  /** Its number in its innermost pid namespace. */
  readonly innerPid: number;
  /** The value of the given variable in its environment; undefined if it has none, or belongs to someone else. */
  readonly value: string | undefined;
}

/** All processes, each with its value of this environment variable. */
export function runningProcesses(variable: string): readonly RunningProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = /^\d+$/.test(name) ? Number(name) : undefined;
    const start = pid && startOf(pid);
    if (pid === undefined || start === undefined) return [];
    const status = read(`/proc/${pid}/status`);
    const field = (key: string) => new RegExp(`^${key}:\\s*(.*)$`, "m").exec(status)?.[1] ?? "";
    const own = read(`/proc/${pid}/environ`)
      .split("\0")
      .find((entry) => entry.startsWith(`${variable}=`));
    return [
      {
        pid,
        start: Number(start),
        parent: Number(field("PPid")),
        name: field("Name"),
        innerPid: Number(field("NSpid").split(/\s+/).at(-1) || pid),
        value: own?.slice(variable.length + 1),
      },
    ];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
