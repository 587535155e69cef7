// The real engine and providers inside a lab, with a program, a state and a home of their own.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { ordinaryHome } from "../../../scripts/toolchain/official.ts";
import { prepareToolchain } from "../../../scripts/toolchain/toolchain.ts";
import { halfMade } from "../../../scripts/workspace/halfMade.ts";
import type { Ended } from "../../../scripts/workspace/run.ts";
import type { Lab } from "./lab.ts";
import type { Watch } from "./watch.ts";

/** As an exported state has it. */
export interface StateResource {
  readonly type: string;
  readonly urn: string;
  readonly inputs?: Record<string, unknown>;
  readonly outputs?: Record<string, unknown>;
}

export type EngineCommand = "up" | "refresh" | "destroy" | "preview";

export class Engine {
  private readonly lab: Lab;
  private readonly pulumi: string;
  private readonly program: string;
  private readonly env: Readonly<Record<string, string>>;

  private constructor(lab: Lab, pulumi: string, program: string, env: Readonly<Record<string, string>>) {
    this.lab = lab;
    this.pulumi = pulumi;
    this.program = program;
    this.env = env;
  }

  /** A stack `test` of the program in this folder, with these values of its config. */
  static async of(lab: Lab, program: string, config: Readonly<Record<string, string>>): Promise<Engine> {
    const engine = await Engine.empty(lab, program);
    await engine.set(config, "--plaintext");
    return engine;
  }

  /** The same without a config. */
  static async empty(lab: Lab, program: string): Promise<Engine> {
    const toolchain = await prepareToolchain();
    const { PULUMI_HOME: from = ordinaryHome(), PATH = "", PULUMI_PARALLEL = "" } = toolchain.environment;
    const [home, state, temporary] = ["pulumi", "state", "tmp"].map((name) => join(lab.files, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [state, temporary]) mkdirSync(folder);
    // The engine's home has more in it than plugins: of a person's own, nothing else is taken.
    cpSync(join(from, "plugins"), join(home, "plugins"), { recursive: true, verbatimSymlinks: true });
    const engine = new Engine(lab, toolchain.pulumi, program, {
      PATH,
      PULUMI_PARALLEL,
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${state}`,
      PULUMI_CONFIG_PASSPHRASE: "for a test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // The kubernetes plugin leaves files there.
      TMPDIR: temporary,
      // Without it the engine has no option for a record of its events.
      PULUMI_DEBUG_COMMANDS: "true",
    });
    // Beside the state: the program's folder stays as it is.
    const project = readFileSync(join(program, "Pulumi.yaml"), "utf8");
    writeFileSync(join(lab.files, "Pulumi.yaml"), project);
    await engine.said(["stack", "init", "test", "--no-select", "-C", lab.files]);
    return engine;
  }

  /** Sets values of the config as the CLI does. */
  async set(values: Readonly<Record<string, string>>, how: "--plaintext" | "--secret"): Promise<void> {
    const args = Object.entries(values).flatMap(([key, value]) => [how, `${key}=${value}`]);
    await this.said(["config", "set-all", ...this.selected, ...args]);
  }

  /** Writes the config as a person does, each key with what it belongs to. What is encrypted stays. */
  configure(values: Readonly<Record<string, unknown>>): void {
    const { config = {}, ...rest } = existsSync(this.settings) ? parse(readFileSync(this.settings, "utf8")) : {};
    const secrets = Object.entries(config).filter(([, value]) => Object.hasOwn(Object(value), "secure"));
    writeFileSync(this.settings, stringify({ ...rest, config: { ...Object.fromEntries(secrets), ...values } }));
  }

  /** `pulumi <command> --stack test`, without a question. */
  call(command: EngineCommand, ...args: readonly string[]): Promise<Ended> {
    return this.run(this.command(command, args));
  }

  /** The same, and what it says as it goes on. */
  begin(command: EngineCommand, ...args: readonly string[]): Watch {
    return this.lab.watch(this.pulumi, this.command(command, args), this.env);
  }

  /** Lets another run begin where one was killed, which could not say that it had ended. */
  async unlock(): Promise<void> {
    await this.said(["cancel", "--stack", "test", "-C", this.program, "--yes"]);
  }

  /** Has what a failed run left half made be made anew, as `npm run up` does. */
  async taintHalfMade(): Promise<readonly string[]> {
    const urns = halfMade(await this.exported());
    if (urns.length > 0) await this.said(["state", "taint", ...urns, "--yes", "--stack", "test", "-C", this.program]);
    return urns;
  }

  /** The stack's outputs, secrets in plain text. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(
      await this.said(["stack", "output", "--stack", "test", "-C", this.program, "--json", "--show-secrets"]),
    );
  }

  /** The stack as the engine keeps it, secrets encrypted. */
  async exported() {
    return JSON.parse(await this.said(["stack", "export", "--stack", "test", "-C", this.program]));
  }

  /** Changes resources in the state, whose secrets are in plain text meanwhile: `{ plaintext: "<JSON>" }`. */
  async rewrite(change: (resource: StateResource) => void): Promise<void> {
    const stack = ["--stack", "test", "-C", this.program];
    const state = JSON.parse(await this.said(["stack", "export", ...stack, "--show-secrets"]));
    for (const resource of state.deployment.resources) change(resource);
    await this.said(["stack", "import", ...stack, "--file", this.lab.write("state.json", JSON.stringify(state))]);
  }

  private get settings(): string {
    return join(this.lab.files, "Pulumi.test.yaml");
  }

  private get selected(): string[] {
    return ["--stack", "test", "--config-file", this.settings, "-C", this.program];
  }

  private command(command: EngineCommand, args: readonly string[]): string[] {
    const silent = command === "preview" ? [] : ["--yes", "--skip-preview"];
    return [command, ...this.selected, ...silent, ...args];
  }

  private async said(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`pulumi ${args[0]}: ${stderr}${stdout}`);
    return stdout;
  }

  private run(args: readonly string[]): Promise<Ended> {
    return this.lab.exec(this.pulumi, args, { env: this.env, timeout: 600_000 });
  }
}
