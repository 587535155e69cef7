// A folder for the temporary files of child processes, removed when this process ends: in every run the kubernetes plugin writes a kubeconfig for Helm and
// never removes it, so the system's temporary folder would fill up with credentials.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { workFolder } from "./paths.ts";
import { startOf } from "./processIdentity.ts";

let made: string | undefined;

/** A folder that only its owner can read, until this process ends. */
export function temporaryFolder(): string {
  if (made !== undefined) return made;
  mkdirSync(workFolder, { recursive: true, mode: 0o700 });
  sweep();
  const folder = mkdtempSync(join(workFolder, `tmp-${process.pid}-`));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  made = folder;
  return folder;
}

/** Removes the folders of processes that were killed. */
function sweep(): void {
  for (const name of readdirSync(workFolder)) {
    const pid = /^tmp-(\d+)-\w{6}$/.exec(name)?.[1];
    const folder = join(workFolder, name);
    if (pid === undefined || startOf(Number(pid)) !== undefined || isUsed(folder)) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a child of a killed process still uses it, such as the engine. */
function isUsed(folder: string): boolean {
  const variable = `TMPDIR=${folder}`;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => readProcess(pid, "environ").split("\0").includes(variable));
}

/** Empty if the process has ended, or belongs to another user. */
function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
