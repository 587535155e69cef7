// Starts labs, and finds out which are running.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LabNeeds } from "../../stacks/platforms/labNeeds.ts";
import { Failure } from "../base/fail.ts";
import { writeWhole } from "../base/files.ts";
import { isAlive } from "../base/processIdentity.ts";
import { run } from "../base/run.ts";
import { ensureTools } from "../toolchain/ensure.ts";
import { programPath } from "../toolchain/entry.ts";
import { labToolsFor, toolNamed } from "../toolchain/tools.ts";
import type { LabLife } from "./deploymentRecord.ts";
import { type LabEnvironment, type LabSetup, labSetup } from "./environment.ts";
import { labCommand } from "./labCommand.ts";
import { labsFolder } from "./labFolders.ts";
import { missingIn } from "./labNeeds.ts";
import { ciliumDefinitions, writeProgramPaths } from "./programs.ts";

/** What is known about a running lab. */
export interface RunningLab {
  readonly life: LabLife;
  /** Host and port on this host that lead to its first cluster. */
  readonly kubernetes: string;
  /** What it was started with, besides what every lab contains. */
  readonly platform: LabNeeds;
}

/** A call of the lab's program, for `run` and `runAttached`. */
export function labCall(lab: string, command: string, args: readonly string[] = []): [string, string[]] {
  return [programPath(toolNamed("sluice-lab")), [command, "--dir", join(labsFolder, lab), ...args]];
}

/** The lab with that name; undefined if it does not run. */
export async function runningLab(lab: string): Promise<RunningLab | undefined> {
  const file = join(labsFolder, lab, "lab.json");
  if (!existsSync(file)) return undefined;
  const { process: life, kubernetes, ready, config } = JSON.parse(await readFile(file, "utf8"));
  if (ready !== true || !isAlive(life)) return undefined;
  const { moreSnapshots: snapshots, proxmox } = config;
  return { life, kubernetes, platform: { snapshots, proxmox } };
}

/** Starts the lab unless it runs, with what its environments need, after building what is missing. */
export async function startLab(lab: string, on: LabEnvironment): Promise<RunningLab> {
  const setup = await labSetup(lab, on);
  await ensureTools(labToolsFor(setup.talosVersions));
  const before = await runningLab(lab);
  if (before === undefined) console.error(`sluice: starting the lab '${lab}'; ${labCommand(lab, "down")} ends it`);
  const [program, args] = labCall(lab, "up", await startOptions(lab, setup));
  const started = await run(program, args, {
    onOutput: (text, stream) => void (before === undefined && stream === "stderr" && process.stderr.write(text)),
  });
  if (started.code !== 0) throw new Failure(`cannot start the lab '${lab}':\n${started.stderr.trim()}`);
  const running = await runningLab(lab);
  if (running === undefined)
    throw new Failure(`the lab '${lab}' ended right after its start; ${labCommand(lab, "up")} starts it again`);
  return running;
}

/** Adds an environment's existing machines to the lab, unless they are there. */
export async function putMachines(lab: string, { machines = [] }: LabNeeds): Promise<void> {
  if (machines.length === 0) return;
  const [program, args] = labCall(lab, "machine", ["add", "--file", "-"]);
  const put = await run(program, args, { input: JSON.stringify(machines) });
  if (put.code !== 0) {
    const reason = put.stderr.trim().replace(/^sluice-lab: /, "");
    throw new Failure(`cannot add this environment's machines to the lab '${lab}': ${reason}`);
  }
}

/** Refuses a lab that was started without what an environment needs. */
export function needPlatform(lab: string, running: RunningLab, platform: LabNeeds): void {
  const missing = missingIn(running.platform, platform);
  if (missing === undefined) return;
  throw new Failure(
    `the running lab '${lab}' has no ${missing}, which this environment needs: ` +
      `end it with '${labCommand(lab, "down")}', which deletes the clusters in it, and run this again.`,
  );
}

/** Options of `up` and `run`: its programs, and what its environments need. */
export async function startOptions(lab: string, { platform }: LabSetup): Promise<string[]> {
  const [programs, needs] = [join(labsFolder, "tools.json"), join(labsFolder, `${lab}.needs.json`)];
  await writeProgramPaths(programs);
  await writeWhole(needs, `${JSON.stringify(platform, null, 2)}\n`);
  return ["--tools", programs, "--definitions", ciliumDefinitions(), "--needs", needs];
}
