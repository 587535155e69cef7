// Where programs that run for us put what they need for a while. It goes when we do: the kubernetes plugin writes a kubeconfig for Helm with
// every run and never removes it, so the folder for everybody's temporary files would fill up with what opens the cluster.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { workFolder } from "./paths.ts";

let made: string | undefined;

/** A folder that nobody else reads, for the time of this process. */
export function temporaryFolder(): string {
  if (made !== undefined) return made;
  mkdirSync(workFolder, { recursive: true, mode: 0o700 });
  sweep();
  const folder = mkdtempSync(join(workFolder, `tmp-${process.pid}-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  made = folder;
  return folder;
}

/** Removes what is left of processes that could not: they were killed, or ran out of memory. */
function sweep(): void {
  for (const name of readdirSync(workFolder)) {
    const pid = /^tmp-(\d+)-\w{6}$/.exec(name)?.[1];
    const folder = join(workFolder, name);
    if (pid === undefined || runs(pid) || isUsed(folder)) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function runs(pid: string): boolean {
  return readProcess(pid, "cmdline") !== "";
}

/** Whether a child of one that was killed goes on with it, as the engine does. */
function isUsed(folder: string): boolean {
  const variable = `TMPDIR=${folder}`;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => readProcess(pid, "environ").split("\0").includes(variable));
}

/** Empty where the process has ended, or is another user's. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
