// Labs of tests: started, used and ended by the lab's own program, with their own work folder.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ended } from "../../../scripts/base/run.ts";
import { ciliumDefinitions, programPaths, writeProgramPaths } from "../../../scripts/lab/programs.ts";
import { runChild } from "../../support/runChild.ts";
import { type Fact, Facts, type Wanted } from "./facts.ts";
import { Trace } from "./trace.ts";
import { Watch } from "./watch.ts";

export interface LabOptions {
  readonly profile?: "fast" | "real" | undefined;
  readonly seed?: number | undefined;
  /** A scenario file's text. */
  readonly scenario?: string | undefined;
  /** A config file's text. */
  readonly config?: string | undefined;
}

export interface ExecOptions {
  readonly input?: string | undefined;
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A fault as a rule of the lab. */
export interface Rule {
  readonly id?: string;
  readonly on: string;
  readonly do: string;
  readonly name?: string;
  readonly subject?: string;
  readonly times?: number;
  readonly skip?: number;
  readonly every?: number;
  readonly delay?: string;
  readonly by?: string;
  readonly code?: string;
  readonly message?: string;
}

/** The Image Factory's own id of `customization: {}`. */
export const emptySchematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

const program = programPaths()["sluice-lab"] ?? "";

/** A lab, with a folder for everything that it and its programs leave behind. */
export class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-lab-"));
  /** The lab's own folder. */
  readonly dir = join(this.folder, "lab");
  /** A folder for the test's own files; programs inside start there. */
  readonly files = join(this.folder, "files");
  /** The facts of the lab that was started last. */
  facts = new Facts();
  /** Milliseconds that its start took. */
  startTook = Number.NaN;
  private readonly options: LabOptions;
  private follower: ChildProcess | undefined;

  private constructor(options: LabOptions) {
    this.options = options;
    for (const name of ["home", "tmp", "files"]) mkdirSync(join(this.folder, name));
  }

  /** Starts a lab. */
  static async up(options: LabOptions = {}): Promise<Lab> {
    const lab = new Lab(options);
    await writeProgramPaths(lab.tools);
    try {
      await lab.start();
    } catch (error) {
      await lab.down().catch(() => undefined); // the first error says more
      throw error;
    }
    return lab;
  }

  /** A lab for the duration of some work; whatever it leaves behind is a failure too. */
  static async during<T>(options: LabOptions, work: (lab: Lab) => Promise<T>): Promise<T> {
    const lab = await Lab.up(options);
    try {
      return await work(lab);
    } finally {
      await lab.down();
    }
  }

  /** Starts the lab in its folder, also again after it was killed. */
  async start(): Promise<void> {
    const { profile = "fast", seed = 1, scenario, config } = this.options;
    const args = [
      "--tools",
      this.tools,
      "--definitions",
      ciliumDefinitions(),
      "--profile",
      profile,
      "--seed",
      `${seed}`,
    ];
    for (const [name, text] of Object.entries({ scenario, config })) {
      if (text === undefined) continue;
      const file = join(this.folder, `${name}.yaml`);
      writeFileSync(file, text);
      args.push(`--${name}`, file);
    }
    const started = performance.now();
    const { code, stderr } = await this.call("up", ...args);
    this.startTook = performance.now() - started;
    if (code !== 0) throw new Error(`the lab does not start: ${stderr}`);
    this.follow();
  }

  /** Runs a program inside and returns how it ended. */
  exec(name: string, args: readonly string[] = [], { env = {}, input, timeout }: ExecOptions = {}): Promise<Ended> {
    const options = { env: { ...this.env, ...env }, cwd: this.files, input, timeout };
    return runChild(program, ["exec", "--dir", this.dir, "--", name, ...args], options);
  }

  /** The output of a program inside; its failure is an error with the output. */
  async said(name: string, args: readonly string[] = [], options: ExecOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.exec(name, args, options);
    if (code !== 0) throw new Error(`${name} ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Starts a program inside that keeps running. */
  watch(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Watch {
    const options = { env: { ...this.env, ...env }, cwd: this.files };
    return new Watch(program, ["exec", "--dir", this.dir, "--", name, ...args], options);
  }

  /** Calls the lab's program with one of its other commands. */
  call(command: string, ...args: readonly string[]): Promise<Ended> {
    return this.callWith("", command, ...args);
  }

  private callWith(input: string, ...args: readonly string[]): Promise<Ended> {
    return runChild(program, [...args, "--dir", this.dir], { env: this.env, input });
  }

  /** Injects a fault; returns its id. */
  async fault(rule: Rule): Promise<string> {
    const added = await this.callWith(JSON.stringify(rule), "fault", "add", "--file", "-");
    if (added.code !== 0) throw new Error(`fault add ${JSON.stringify(rule)}: ${added.stderr}`);
    return added.stdout.trim();
  }

  async endFault(id: string): Promise<void> {
    const removed = await this.call("fault", "remove", id);
    if (removed.code !== 0) throw new Error(`fault remove ${id}: ${removed.stderr}`);
  }

  /** The first such fact, which may have come already. */
  until(wanted: Wanted, milliseconds?: number): Promise<Fact> {
    return this.facts.until(wanted, milliseconds);
  }

  /** Writes a file for programs inside and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.files, name);
    writeFileSync(path, text);
    return path;
  }

  /** What the lab currently uses of the machine. */
  trace(): Trace {
    return new Trace(this.folder);
  }

  /** Resolves once the lab has ended, for any reason. */
  async ended(): Promise<void> {
    const { follower } = this;
    if (follower?.exitCode === null && follower.signalCode === null) await once(follower, "close");
  }

  /** Ends the lab and fails if anything is left of it. */
  async down(): Promise<void> {
    const trace = this.trace();
    const { code, stderr } = await this.call("down");
    this.follower?.kill();
    await this.ended();
    const left = [...trace.left(), ...this.filesLeft()];
    rmSync(this.folder, { recursive: true, force: true });
    if (code !== 0) throw new Error(`down ended with ${code}: ${stderr}`);
    if (left.length > 0) throw new Error(`the lab is down and left behind:\n${left.join("\n")}`);
  }

  /** The user's own settings for accounts and clusters do not reach in. */
  private get env(): NodeJS.ProcessEnv {
    const strange = /^(PULUMI|SLUICE|HCLOUD|PROXMOX|npm|NPM|JEST)_|^(NODE_OPTIONS|NODE_ENV|KUBECONFIG|TALOSCONFIG)$/;
    const kept = Object.entries(process.env).filter(([key]) => !strange.test(key));
    return { ...Object.fromEntries(kept), HOME: join(this.folder, "home"), TMPDIR: join(this.folder, "tmp") };
  }

  /** Where the lab finds its programs. */
  private get tools(): string {
    return join(this.folder, "tools.json");
  }

  private follow(): void {
    const facts = new Facts();
    const args = ["timeline", "--follow", "--json", "--dir", this.dir];
    const follower = spawn(program, args, { env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    follower.stdout.setEncoding("utf8").on("data", (text: string) => facts.hear(text));
    follower.on("close", () => facts.end("the lab has ended"));
    this.facts = facts;
    this.follower = follower;
  }

  /** What the lab itself left on disk: its folder and the one for temporary files must be empty. */
  private filesLeft(): string[] {
    const left = readdirSync(this.folder, { recursive: true, encoding: "utf8" });
    return left.filter((path) => /^(lab|tmp)\//.test(path)).map((path) => `file ${join(this.folder, path)}`);
  }
}
