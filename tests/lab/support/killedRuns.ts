// Runs of an environment of which a program is killed exactly while something is created.
import { expect } from "@jest/globals";
import type { Ended } from "../../../scripts/base/run.ts";
import type { Workbench } from "../../support/cli.ts";
import type { BenchLab } from "./benchLab.ts";
import { type KilledProgram, killedPrograms } from "./kill.ts";
import type { Rule } from "./lab.ts";

/** Creates that are in progress at the same time: each is a call that took effect and is never answered, or a step that is held. */
export interface Moment {
  readonly title: string;
  readonly rules: readonly Rule[];
}

/** The call takes effect, and is never answered. */
export function unanswered(name: string, times = 1): Rule {
  return { on: "cloud", name, do: "mute", times };
}

/** What it started does not complete: the names of actions and tasks, or of a call to Talos. */
export function held(on: "cloud" | "talos", name: string, times = 1): Rule {
  return { on, name, do: "hold", times };
}

/** A command that has not ended by then hangs. */
const hangsAfterMs = 280_000;

/**
 * How long a test with so many commands may take. One takes a quarter of a minute on an idle machine of two cores, and three times that beside other suites; a command that
 * hangs is found by its own limit.
 */
export function timeoutOf(commands: number): number {
  return Math.max(commands * 90_000, 2 * hangsAfterMs);
}

export class KilledRuns {
  private readonly bench: Workbench;
  private readonly lab: BenchLab;
  private readonly environment: string;

  constructor(bench: Workbench, lab: BenchLab, environment: string) {
    this.bench = bench;
    this.lab = lab;
    this.environment = environment;
  }

  /** An `up` of which this is killed once all creates of the moment are in progress. */
  async up(whom: KilledProgram, { title, rules }: Moment): Promise<void> {
    const seen = this.lab.facts.all.at(-1);
    const faults = await Promise.all(rules.map((rule) => this.lab.fault(rule)));
    // A run whose plugin is killed would resume by itself.
    const run = this.command("up", "--no-resume");
    await this.lab.untilFaults(rules, seen, run);
    const killed = this.lab.processes(killedPrograms[whom]);
    for (const { pid } of killed) process.kill(pid, "SIGKILL");
    const { code } = await run;
    await Promise.all(faults.map((id) => this.lab.endFault(id).catch(() => undefined)));
    // Whatever runs on would create something beside the next run.
    const left = Object.entries(killedPrograms).filter(([, pattern]) => this.lab.processes(pattern).length > 0);
    expect({ title, killed: killed.length > 0, hasFailed: code !== 0, left: left.map(([name]) => name) }).toEqual({
      ...{ title, killed: true, hasFailed: true, left: [] },
    });
  }

  /** A command that succeeds. */
  async succeeds(command: "up" | "destroy", ...options: readonly string[]): Promise<Ended> {
    const ended = await this.command(command, ...options);
    const { code, stdout, stderr } = ended;
    expect({ command, code, said: code === 0 ? "" : stdout + stderr }).toEqual({ command, code: 0, said: "" });
    return ended;
  }

  private command(command: "up" | "destroy", ...options: readonly string[]): Promise<Ended> {
    return this.bench.npmWith(
      { timeout: hangsAfterMs },
      command,
      this.environment,
      "--yes",
      "--skip-preview",
      ...options,
    );
  }
}
