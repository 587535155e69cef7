// The real engine and providers inside a lab, with a program, a state and a home of their own.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ordinaryHome } from "../../../scripts/toolchain/official.ts";
import { prepareToolchain } from "../../../scripts/toolchain/toolchain.ts";
import type { Ended } from "../../../scripts/workspace/run.ts";
import type { Lab } from "./lab.ts";

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
    const toolchain = await prepareToolchain();
    const { PULUMI_HOME: from = ordinaryHome(), PATH = "" } = toolchain.environment;
    const [home, state] = ["pulumi", "state"].map((name) => join(lab.files, name)) as [string, string];
    mkdirSync(state);
    // The engine's home has more in it than plugins: of a person's own, nothing else is taken.
    cpSync(join(from, "plugins"), join(home, "plugins"), { recursive: true, verbatimSymlinks: true });
    const engine = new Engine(lab, toolchain.pulumi, program, {
      PATH,
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${state}`,
      PULUMI_CONFIG_PASSPHRASE: "for a test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
    });
    await engine.said("stack", "init", "test", "--no-select");
    const values = Object.entries(config).flatMap(([key, value]) => ["--plaintext", `${key}=${value}`]);
    await engine.said("config", "set-all", "--stack", "test", ...engine.settings, ...values);
    return engine;
  }

  /** `pulumi <command> --stack test`, without a question. */
  call(command: "up" | "refresh" | "destroy" | "preview", ...args: readonly string[]): Promise<Ended> {
    const silent = command === "preview" ? [] : ["--yes", "--skip-preview"];
    return this.run([command, "--stack", "test", ...this.settings, ...silent, ...args]);
  }

  /** The stack's outputs, secrets in plain text. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.said("stack", "output", "--stack", "test", "--json", "--show-secrets"));
  }

  private async said(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`pulumi ${args[0]}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Beside the state: the program's folder stays as it is. */
  private get settings(): string[] {
    return ["--config-file", join(this.lab.files, "Pulumi.test.yaml")];
  }

  private run(args: readonly string[]): Promise<Ended> {
    return this.lab.exec(this.pulumi, [...args, "-C", this.program], { env: this.env, timeout: 600_000 });
  }
}
