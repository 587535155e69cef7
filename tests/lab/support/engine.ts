// The real engine and providers inside a lab, with their own program, state and home.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { root } from "../../../scripts/base/paths.ts";
import type { Ended } from "../../../scripts/base/run.ts";
import { adopt } from "../../../scripts/orphans/adoption.ts";
import type { ListingCall } from "../../../scripts/orphans/list.ts";
import { failedCreations } from "../../../scripts/stack/failedCreations.ts";
import { kubernetesTimeout } from "../../../scripts/stack/kubernetesTimeout.ts";
import { withoutSidecars } from "../../../scripts/stack/repairState.ts";
import { ordinaryHome } from "../../../scripts/toolchain/official.ts";
import { prepareToolchain } from "../../../scripts/toolchain/toolchain.ts";
import type { Usage } from "../../../scripts/tools/bench/figures.ts";
import { allPlatforms } from "../../../stacks/platforms/registry.ts";
import type { Lab } from "./lab.ts";
import type { Watch } from "./watch.ts";

/** As an exported state has it. */
export interface StateResource {
  readonly type: string;
  readonly urn: string;
  readonly inputs?: Record<string, unknown>;
  readonly outputs?: Record<string, unknown>;
}

/** Before Jest's own timeout ends a test: what the run printed until then is part of the failure. */
const mostMs = 280_000;

const measuring = join(root, "scripts", "tools", "bench", "measured.ts");

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
  static async empty(lab: Lab, program: string, variables: Readonly<Record<string, string>> = {}): Promise<Engine> {
    const toolchain = await prepareToolchain();
    const { PULUMI_HOME: from = ordinaryHome(), PATH = "", PULUMI_PARALLEL = "" } = toolchain.environment;
    const [home, state, temporary] = ["pulumi", "state", "tmp"].map((name) => join(lab.files, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [state, temporary]) mkdirSync(folder);
    // The engine's home has more in it than plugins: nothing else of the user's own home is used.
    cpSync(join(from, "plugins"), join(home, "plugins"), { recursive: true, verbatimSymlinks: true });
    const engine = new Engine(lab, toolchain.pulumi, program, {
      PATH,
      PULUMI_PARALLEL,
      PULUMI_HOME: home,
      PULUMI_BACKEND_URL: `file://${state}?${withoutSidecars}`,
      PULUMI_CONFIG_PASSPHRASE: "for a test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // The kubernetes plugin leaves files there.
      TMPDIR: temporary,
      // Without it the engine has no option to record its events.
      PULUMI_DEBUG_COMMANDS: "true",
      ...variables,
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

  /** Writes the config as a user does, each key with its namespace. What is encrypted stays. */
  configure(values: Readonly<Record<string, unknown>>): void {
    const { config = {}, ...rest } = existsSync(this.settings) ? parse(readFileSync(this.settings, "utf8")) : {};
    const secrets = Object.entries(config).filter(([, value]) => Object.hasOwn(Object(value), "secure"));
    writeFileSync(this.settings, stringify({ ...rest, config: { ...Object.fromEntries(secrets), ...values } }));
  }

  /** `pulumi <command> --stack test`, without a question. */
  call(command: EngineCommand, ...args: readonly string[]): Promise<Ended> {
    return this.run(this.command(command, args));
  }

  /** The same, and what it took with everything that it started; a failure is an error. */
  async measure(command: EngineCommand, ...args: readonly string[]): Promise<Usage> {
    const report = join(this.lab.files, "usage.json");
    const measured = [measuring, report, this.pulumi, ...this.command(command, args)];
    const env = { ...this.env, ...timeoutOf(command) };
    const { code, stdout, stderr } = await this.lab.exec(process.execPath, measured, { env, timeout: mostMs });
    if (code !== 0) throw new Error(`pulumi ${command} ended with ${code}:\n${stdout}${stderr}`);
    return JSON.parse(readFileSync(report, "utf8"));
  }

  /** The same, with its output while it runs. */
  begin(command: EngineCommand, ...args: readonly string[]): Watch {
    return this.lab.watch(this.pulumi, this.command(command, args), { ...this.env, ...timeoutOf(command) });
  }

  /** The same stack with a copy of its state: what another user has who knows nothing of this one, nor of its lock. */
  copy(name: string): Engine {
    const [state, copied] = ["state", name].map((folder) => join(this.lab.files, folder)) as [string, string];
    cpSync(state, copied, { recursive: true, filter: (file) => !file.includes("/.pulumi/locks") });
    const env = { ...this.env, PULUMI_BACKEND_URL: `file://${copied}?${withoutSidecars}` };
    return new Engine(this.lab, this.pulumi, this.program, env);
  }

  /** Allows another run after one was killed, which left its lock. */
  async unlock(): Promise<void> {
    await this.said(["cancel", ...this.stack, "--yes"]);
  }

  /** Taints what a failed run left partially created, as `npm run up` does. */
  async taintFailedCreations(): Promise<readonly string[]> {
    const types = allPlatforms.flatMap(({ recreatedTypes }) => recreatedTypes);
    const urns = failedCreations(await this.exported(), types);
    if (urns.length > 0) await this.said(["state", "taint", ...urns, "--yes", ...this.stack]);
    return urns;
  }

  /** Adopts what an earlier run created and could not record, as the commands do before a run; returns the titles. */
  async adoptOrphans(cluster: Pick<ListingCall, "place" | "entries">, variable: string): Promise<readonly string[]> {
    const script = join(root, "scripts", "orphans", "list.ts");
    const input = JSON.stringify({ ...cluster, known: {}, variable } satisfies ListingCall);
    const listed = await this.lab.said(process.execPath, [script], { input });
    const adopted = await adopt(JSON.parse(listed), {
      call: (args, input) =>
        this.lab.exec(this.pulumi, [...args, ...(args[0] === "stack" ? this.stack : this.selected)], {
          env: this.env,
          input,
        }),
    });
    if (adopted.failure !== undefined) throw new Error(adopted.failure);
    if (adopted.orphans.doubted.length > 0) throw new Error(JSON.stringify(adopted.orphans.doubted));
    return adopted.orphans.adopted.map(({ orphan }) => orphan.title);
  }

  /** The stack's outputs, secrets in plain text. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.said(["stack", "output", ...this.stack, "--json", "--show-secrets"]));
  }

  /** The stack as the engine stores it, secrets encrypted. */
  async exported() {
    return JSON.parse(await this.said(["stack", "export", ...this.stack]));
  }

  /** The stack with its secrets in plain text: `{ plaintext: "<JSON>" }`. */
  async exportedInPlainText() {
    return JSON.parse(await this.said(["stack", "export", ...this.stack, "--show-secrets"]));
  }

  /** Changes resources in the state, whose secrets are in plain text meanwhile: `{ plaintext: "<JSON>" }`. */
  async rewrite(change: (resource: StateResource) => void): Promise<void> {
    const state = await this.exportedInPlainText();
    for (const resource of state.deployment.resources) change(resource);
    await this.said(["stack", "import", ...this.stack, "--file", this.lab.write("state.json", JSON.stringify(state))]);
  }

  private get settings(): string {
    return join(this.lab.files, "Pulumi.test.yaml");
  }

  private get stack(): string[] {
    return ["--stack", "test", "-C", this.program];
  }

  private get selected(): string[] {
    return [...this.stack, "--config-file", this.settings];
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
    return this.lab.exec(this.pulumi, args, { env: { ...this.env, ...timeoutOf(args[0]) }, timeout: mostMs });
  }
}

/** As the npm commands set it. */
function timeoutOf(command: string | undefined): Record<string, string> {
  return kubernetesTimeout(command, {}) as Record<string, string>;
}
