// Where programs that run for us put what they need for a while. It goes when we do: the kubernetes plugin writes a kubeconfig for Helm with
// every run and never removes it, so the folder for everybody's temporary files would fill up with what opens the cluster.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { workFolder } from "./paths.ts";

let made: string | undefined;

/** A folder that nobody else reads, for the time of this process. */
export function temporaryFolder(): string {
  if (made !== undefined) return made;
  mkdirSync(workFolder, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(workFolder, "tmp-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  made = folder;
  return folder;
}
