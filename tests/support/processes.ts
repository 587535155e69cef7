// What `ps` can show of the processes of a run, seen while they live.
import { readdirSync, readFileSync } from "node:fs";

export interface SeenProcess {
  /** The command line, arguments separated by blanks. */
  readonly command: string;
  /** `NAME=value`, readable for the same user and root only. */
  readonly environment: readonly string[];
}

/** Looks at every process whose environment holds `mark`, again and again until it is stopped. */
export function watchProcesses(mark: string): { stop(): readonly SeenProcess[] } {
  const seen = new Map<string, SeenProcess>();
  const look = () => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const environment = readProcess(pid, "environ");
      if (!environment.includes(mark)) continue;
      const command = readProcess(pid, "cmdline");
      seen.set(`${pid} ${command}`, {
        command: command.replaceAll("\0", " ").trim(),
        environment: environment.split("\0"),
      });
    }
  };
  const timer = setInterval(look, 50);
  return {
    stop() {
      clearInterval(timer);
      return [...seen.values()];
    },
  };
}

/** Empty where the process has ended meanwhile or is another user's. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
