// A lab as scripts use it: started where none runs, and asked which one it is.
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ensureTools } from "../toolchain/ensure.ts";
import { programPath } from "../toolchain/entry.ts";
import { charts } from "../toolchain/labTools.ts";
import { toolNamed } from "../toolchain/tools.ts";
import { Failure } from "../workspace/fail.ts";
import { writeWhole } from "../workspace/files.ts";
import { run } from "../workspace/run.ts";
import { labCommand } from "./call.ts";
import type { LabLife } from "./deployedRecord.ts";
import { labPlatform } from "./environment.ts";
import { labsFolder } from "./folder.ts";
import { type LabPlatform, lackOf } from "./platforms.ts";
import { ciliumDefinitions, labPrograms, writeProgramPaths } from "./programs.ts";

/** What is known of a lab that runs. */
export interface RunningLab {
  readonly life: LabLife;
  /** Host and port on this machine that lead to its first cluster. */
  readonly kubernetes: string;
  /** What it was given from the beginning, besides what every lab has. */
  readonly platform: LabPlatform;
}

/** A call of the lab's own program, for `run` and `runAttached`. */
export function labCall(lab: string, command: string, args: readonly string[] = []): [string, string[]] {
  return [programPath(toolNamed("sluice-lab")), [command, "--dir", join(labsFolder, lab), ...args]];
}

/** The lab of that name; undefined where none runs. */
export async function runningLab(lab: string): Promise<RunningLab | undefined> {
  const file = join(labsFolder, lab, "lab.json");
  if (!existsSync(file)) return undefined;
  const { process: life, kubernetes, ready, config } = JSON.parse(await readFile(file, "utf8"));
  if (ready !== true || !isAlive(life)) return undefined;
  const { moreSnapshots: snapshots, proxmox } = config;
  return { life, kubernetes, platform: { snapshots, proxmox } };
}

/** Starts the lab unless it runs, with what an environment finds there and with what is missing built, and says so. */
export async function startLab(lab: string, platform?: LabPlatform): Promise<RunningLab> {
  needLinux();
  await ensureTools([...labPrograms, charts]);
  const before = await runningLab(lab);
  if (before === undefined) console.error(`sluice: starting the lab '${lab}'; ${labCommand(lab, "down")} ends it`);
  const [program, args] = labCall(lab, "up", await startOptions(lab, platform));
  const started = await run(program, args, {
    onOutput: (text, stream) => void (before === undefined && stream === "stderr" && process.stderr.write(text)),
  });
  if (started.code !== 0) throw new Failure(`the lab '${lab}' cannot be started:\n${started.stderr.trim()}`);
  const running = await runningLab(lab);
  if (running === undefined) throw new Failure(`the lab '${lab}' has ended again; ${labCommand(lab, "up")} starts it`);
  return running;
}

/** Puts machines of an environment into the lab that are not there yet, as a person would into a rack. */
export async function putMachines(lab: string, { machines = [] }: LabPlatform): Promise<void> {
  if (machines.length === 0) return;
  const [program, args] = labCall(lab, "machine", ["add", "--file", "-"]);
  const put = await run(program, args, { input: JSON.stringify(machines) });
  if (put.code !== 0) {
    const why = put.stderr.trim().replace(/^sluice-lab: /, "");
    throw new Failure(`the machines of this environment cannot be put into the lab '${lab}': ${why}`);
  }
}

/** Refuses to go on without what an environment finds on its platform. */
export function needPlatform(lab: string, running: RunningLab, platform: LabPlatform): void {
  const lack = lackOf(running.platform, platform);
  if (lack === undefined) return;
  throw new Failure(
    `the lab '${lab}' was started before it was known that it needs ${lack}, and has none: ` +
      `end it with '${labCommand(lab, "down")}', which takes the clusters in it away, and run this again.`,
  );
}

/** Options of `up` and `run`: its programs, and what the environments find there that run on it. */
export async function startOptions(lab: string, platform?: LabPlatform): Promise<string[]> {
  const [programs, needs] = [join(labsFolder, "tools.json"), join(labsFolder, `${lab}.needs.json`)];
  await writeProgramPaths(programs);
  await writeWhole(needs, `${JSON.stringify(await labPlatform(lab, platform), null, 2)}\n`);
  return ["--tools", programs, "--definitions", ciliumDefinitions(), "--needs", needs];
}

export function needLinux(): void {
  if (process.platform === "linux") return;
  throw new Failure(
    `the lab needs network namespaces, which Linux alone has; this is ${process.platform}. ` +
      "A Linux container or virtual machine will do; previews need no lab.",
  );
}

/** Numbers of processes come back; together with when it began, in ticks since the machine did, they do not. */
function isAlive(life: LabLife): boolean {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${life.pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && isDeepStrictEqual({ pid: life.pid, start: Number(fields[18]), boot }, { ...life });
  } catch {
    return false; // no such process
  }
}
