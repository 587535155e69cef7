// Kills a process of a run at the moment that a case asks for.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type RunningProcess, runningProcesses } from "../../scripts/base/processList.ts";
import { type ChosenKill, stepsIn } from "../../scripts/tools/soak/kills.ts";

export interface Killed {
  readonly program: string;
  /** The types of the steps that the engine was at work on. */
  readonly during: readonly string[];
}

export class Killer {
  private readonly kill: ChosenKill;
  /** The folder by which the processes of the run are known: SLUICE_WORK. */
  private readonly work: string;
  private output = "";
  private timer: NodeJS.Timeout | undefined;
  private isDue = false;
  private killed: Killed | undefined;

  constructor(kill: ChosenKill, work: string) {
    this.kill = kill;
    this.work = work;
  }

  /** What was killed; undefined where the run ended before. */
  get victim(): Killed | undefined {
    return this.killed;
  }

  /** Hears what the run prints. */
  hear(text: string): void {
    this.output += text;
    if (this.isDue) this.strike();
    if (this.timer !== undefined || stepsIn(this.output).started < this.kill.afterKinds) return;
    this.timer = setTimeout(() => {
      this.isDue = true;
      this.strike();
    }, this.kill.afterMs);
  }

  /** The run has ended. */
  end(): void {
    clearTimeout(this.timer);
  }

  /** A process that is not there yet is killed once the run prints more. */
  private strike(): void {
    if (this.killed !== undefined) return;
    const found = this.found();
    const one = found[this.kill.which % found.length];
    if (one === undefined) return;
    process.kill(one.pid, "SIGKILL");
    this.killed = { program: one.program, during: stepsIn(this.output).atWork };
  }

  /** The processes that may be meant, by their names. */
  private found(): readonly { readonly pid: number; readonly program: string }[] {
    const all = runningProcesses("SLUICE_WORK").filter(({ value }) => value === this.work);
    const isMeant: Readonly<Record<ChosenKill["whom"], (args: readonly string[]) => boolean>> = {
      engine: ([program = "", ...args]) => basename(program) === "pulumi" && args.includes("up"),
      provider: (args) => args.some((one) => one.includes("/dynamic-provider/")),
      plugin: ([program = ""]) => basename(program).startsWith("pulumi-resource-"),
    };
    return all
      .map((one) => ({ pid: one.pid, args: commandOf(one) }))
      .filter(({ args }) => isMeant[this.kill.whom](args))
      .map(({ pid, args: [program = ""] }) => ({ pid, program: basename(program) }))
      .toSorted((a, b) => a.program.localeCompare(b.program) || a.pid - b.pid);
  }
}

function commandOf({ pid }: RunningProcess): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
