// The lab of an environment whose commands a test types, with its facts as they come.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type RunningProcess, runningProcesses } from "../../../scripts/base/processList.ts";
import type { Ended } from "../../../scripts/base/run.ts";
import { programPaths } from "../../../scripts/lab/programs.ts";
import type { Workbench } from "../../support/cli.ts";
import { commandOf } from "../../support/processes.ts";
import { runChild } from "../../support/runChild.ts";
import type { InLab } from "./cloud.ts";
import { type Fact, Facts } from "./facts.ts";
import type { Rule } from "./lab.ts";

const program = programPaths()["sluice-lab"] ?? "";

export class BenchLab {
  readonly facts = new Facts();
  /** Programs inside, as other helpers call them. */
  readonly inside: InLab = { said: (name, args = []) => this.said(name, ...args) };
  private readonly bench: Workbench;
  private readonly name: string;
  private readonly dir: string;
  private follower: ChildProcess | undefined;

  constructor(bench: Workbench, name: string) {
    this.bench = bench;
    this.name = name;
    this.dir = join(bench.work, "lab", name);
  }

  /** Starts it with what all environments on it need. */
  async start(...options: readonly string[]): Promise<void> {
    const { code, stdout, stderr } = await this.bench.npm("lab", "--name", this.name, "up", ...options);
    if (code !== 0) throw new Error(`lab up: ${stderr}${stdout}`);
    const args = ["timeline", "--follow", "--json", "--dir", this.dir];
    this.follower = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.follower.stdout?.setEncoding("utf8").on("data", (text: string) => this.facts.hear(text));
    this.follower.on("close", () => this.facts.end("the lab has ended"));
  }

  /** Injects a fault; returns its id. */
  async fault(rule: Rule): Promise<string> {
    return (await this.called(JSON.stringify(rule), "fault", "add", "--file", "-")).trim();
  }

  async endFault(id: string): Promise<void> {
    await this.called("", "fault", "remove", id);
  }

  /** All of them, also those whose moment has not come. */
  async endFaults(): Promise<void> {
    await this.called("", "fault", "remove", "--all");
  }

  /** Resolves once faults of these rules have happened so often after this fact; fails if the run ends before. */
  async untilFaults(rules: readonly Rule[], after: Fact | undefined, run: Promise<Ended>): Promise<void> {
    const wanted = rules.flatMap(({ do: value, times = 1 }) => Array.from({ length: times }, () => value));
    const ended = run.then(({ stdout, stderr }) => {
      throw new Error(`it ended before ${wanted.length} faults: ${stdout.slice(-4_000)}${stderr}`);
    });
    let fact = after;
    for (const value of wanted) {
      const next = this.facts.until({ what: "fault", value, after: fact }, 120_000);
      fact = await Promise.race([next, ended]);
    }
  }

  /** The output of a program inside. */
  async said(name: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.exec(name, ...args);
    if (code !== 0) throw new Error(`${name} ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Runs a program inside, with the credentials of its cluster, as `npm run lab -- exec` does: without the commands' own start, which takes longer. */
  exec(name: string, ...args: readonly string[]): Promise<Ended> {
    const env = { ...process.env, KUBECONFIG: `${this.dir}.kubeconfig`, TALOSCONFIG: `${this.dir}.talosconfig` };
    return runChild(program, ["exec", "--dir", this.dir, "--", name, ...args], { env });
  }

  /** The processes of the bench's commands whose command line matches. */
  processes(pattern: RegExp): readonly RunningProcess[] {
    return runningProcesses("SLUICE_WORK").filter(
      ({ value, pid }) => value === this.bench.work && pattern.test(commandOf(pid)),
    );
  }

  /** Ends it. */
  async down(): Promise<void> {
    await this.bench.npm("lab", "--name", this.name, "down");
    const { follower } = this;
    if (follower === undefined) return;
    follower.kill();
    if (follower.exitCode === null && follower.signalCode === null) await once(follower, "close");
  }

  private async called(input: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runChild(program, [...args, "--dir", this.dir], { env: process.env, input });
    if (code !== 0) throw new Error(`lab ${args.join(" ")}: ${stderr}`);
    return stdout;
  }
}
