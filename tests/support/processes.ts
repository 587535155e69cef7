// What `ps` shows of the processes of a run while they run.
import { readdirSync, readFileSync } from "node:fs";

export interface SeenProcess {
  /** The command line, arguments separated by blanks. */
  readonly command: string;
  /** `NAME=value`, readable for the same user and root only. */
  readonly environment: readonly string[];
}

/** Polls every process whose environment contains `mark`, until it is stopped. */
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

/** The command line of a process, arguments separated by blanks. */
export function commandOf(pid: number): string {
  return readProcess(`${pid}`, "cmdline").replaceAll("\0", " ").trim();
}

/** Empty where the process has ended meanwhile or is another user's. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
