// The program under test as a user runs it: an environment on its own lab, with the real engine in it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { root } from "../../../scripts/base/paths.ts";
import type { Ended } from "../../../scripts/base/run.ts";
import { stageCharts } from "../../../scripts/lab/charts.ts";
import { clusterFrom } from "../../../scripts/orphans/settleOrphans.ts";
import { plainValue } from "../../../scripts/stack/exported.ts";
import { parseClusterConfig } from "../../../stacks/config/config.ts";
import { type ChainEnvironment, type ChainNode, type Config, completeNode, environment } from "./chainEnvironment.ts";
import { Cloud } from "./cloud.ts";
import { Engine, type EngineCommand, type StateResource } from "./engine.ts";
import { Lab, type LabOptions } from "./lab.ts";
import type { Watch } from "./watch.ts";

export interface ChainOptions extends ChainEnvironment, Pick<LabOptions, "seed" | "scenario" | "profile"> {
  /** Whether servers at Hetzner boot an image that installs Talos when it gets its config, instead of one with Talos on it. */
  readonly installs?: boolean;
  /** More keys of the environment that are encrypted, without `sluice:`. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Nodes that the environment may get later, on machines that exist from the beginning. */
  readonly spares?: readonly ChainNode[];
  /** Variables with which the engine runs. */
  readonly variables?: Readonly<Record<string, string>>;
}

export type { Config } from "./chainEnvironment.ts";

/** How a command of the engine ended, and what it did. */
export interface Run extends Ended {
  /** What was done to which resource; unchanged ones are left out. */
  readonly steps: readonly Step[];
  readonly seconds: number;
}

export interface Step {
  /** `create`, `update`, `delete` ...; of a refresh, what it found to have happened. */
  readonly op: string;
  readonly type: string;
  readonly name: string;
  readonly failed: boolean;
  /** When it started and ended, as the numbers of the engine's events. */
  readonly began: number;
  readonly ended: number;
}

/** A resource as the state has it. */
export interface Kept {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

const sample = join(root, "lab", "sample");

export class Chain {
  readonly lab: Lab;
  readonly cloud: Cloud;
  readonly engine: Engine;
  private readonly options: ChainOptions;
  private config: Config;
  /** The files with the stack's latest outputs. */
  private readonly handedOut = new Map<string, Promise<string>>();

  private constructor(lab: Lab, engine: Engine, config: Config, options: ChainOptions) {
    this.lab = lab;
    this.options = options;
    this.cloud = new Cloud(lab);
    this.engine = engine;
    this.config = config;
  }

  /** An environment with nothing deployed, on a lab that has what the environment finds on its platform. */
  static async of(options: ChainOptions = {}): Promise<Chain> {
    const { installs = false, spares = [], secrets = {}, variables, seed, scenario, profile } = options;
    const config = environment(options);
    // What exists from the beginning exists for all later nodes, too.
    const nodes = [...(config.nodes as ChainNode[]), ...spares.map((node) => completeNode(options, node))];
    const parsed = parseClusterConfig({ ...config, nodes });
    const { snapshots, ...platform } = parsed.platform.lab.needs(parsed);
    const given = { ...platform, ...(snapshots && { snapshots: snapshots.map((one) => ({ ...one, installs })) }) };
    await stageCharts();
    const lab = await Lab.up({ seed, scenario, profile, config: stringify(given) });
    try {
      const engine = await Engine.empty(lab, root, variables);
      // The program refuses a key that nothing would use.
      const ofLab = config.sealedSecrets === undefined ? sealingKey() : {};
      const own = Object.entries(secrets).map(([key, value]) => [`sluice:${key}`, value]);
      const encrypted = { ...ofLab, ...Object.fromEntries(own) };
      if (Object.keys(encrypted).length > 0) await engine.set(encrypted, "--secret");
      const chain = new Chain(lab, engine, config, options);
      chain.write();
      return chain;
    } catch (error) {
      await lab.down().catch(() => undefined); // the first error says more
      throw error;
    }
  }

  /** The nodes as the environment's file has them. */
  get listed(): readonly { readonly name: string; readonly role: string; readonly address: string }[] {
    return this.config.nodes as { name: string; role: string; address: string }[];
  }

  /** The lab's names of all nodes, which are those of its servers; control planes first. */
  get nodes(): string[] {
    return this.listed.map(({ name }) => this.server(name));
  }

  /** The lab's name of a node. */
  server(node: string): string {
    return `${this.config.clusterName}-${node}`;
  }

  /** Adds a node to the environment's file. */
  addNode(node: ChainNode): void {
    this.configure({ nodes: [...(this.config.nodes as object[]), completeNode(this.options, node)] });
  }

  /** Takes one out of it. */
  removeNode(name: string): void {
    this.configure({ nodes: (this.config.nodes as ChainNode[]).filter((node) => node.name !== name) });
  }

  /** Sets values that are encrypted, each key with what it belongs to. */
  provide(values: Readonly<Record<string, string>>): Promise<void> {
    return this.engine.set(values, "--secret");
  }

  /** A key of the environment's file that is a map. */
  setting(key: string): Config {
    return this.config[key] as Config;
  }

  /** Changes the environment's file. */
  configure(changes: Config): void {
    this.config = { ...this.config, ...changes };
    this.write();
  }

  /** `pulumi <command>`; the test checks how it ends. */
  async run(command: EngineCommand, ...args: readonly string[]): Promise<Run> {
    const log = join(this.lab.files, "events.json");
    this.lab.write("events.json", "");
    this.handedOut.clear();
    const began = performance.now();
    const ended = await this.engine.call(command, "--event-log", log, ...args);
    return { ...ended, steps: stepsIn(readFileSync(log, "utf8")), seconds: (performance.now() - began) / 1000 };
  }

  /** The same, with its output while it runs; `stop` interrupts it. */
  begin(command: EngineCommand, ...args: readonly string[]): Watch {
    return this.engine.begin(command, ...args);
  }

  /** `pulumi up` of another operator, with a copy of the state. */
  beginOfAnother(): Watch {
    return this.engine.copy("another-state").begin("up");
  }

  /** Allows another run after one was killed. */
  unlock(): Promise<void> {
    return this.engine.unlock();
  }

  /** Deploys it; a failure is an error with what it said. */
  async up(...args: readonly string[]): Promise<Run> {
    const run = await this.run("up", ...args);
    if (run.code !== 0) throw new Error(`up ended with ${run.code}:\n${run.stdout}${run.stderr}`);
    return run;
  }

  /** After a run that failed, as `npm run up` does; returns the names of what was half made. */
  async taintFailedCreations(): Promise<readonly string[]> {
    return (await this.engine.taintFailedCreations()).map(nameIn);
  }

  /** Before a run, as `npm run up` does; returns the titles of what was adopted. */
  adoptOrphans(): Promise<readonly string[]> {
    const config = parseClusterConfig(this.config);
    const { platform } = config;
    if (platform.account === undefined) throw new Error(`${platform.name} creates nothing`);
    return this.engine.adoptOrphans(clusterFrom(config), platform.account.token.variable);
  }

  /** Changes the state itself, for what would otherwise take a year. */
  rewrite(change: (resource: StateResource) => void): Promise<void> {
    return this.engine.rewrite(change);
  }

  /** The stack's outputs, secrets in plain text. */
  // biome-ignore lint/suspicious/noExplicitAny: what they are is what the tests are about
  outputs(): Promise<any> {
    return this.engine.outputs();
  }

  /** The config of each node, as the state has it. */
  async machineConfigs(): Promise<Readonly<Record<string, string>>> {
    const { deployment } = await this.engine.exportedInPlainText();
    const sent = (deployment.resources as StateResource[]).filter(({ type }) =>
      type.endsWith("/talos:AppliedMachineConfig"),
    );
    return Object.fromEntries(
      sent.map(({ inputs = {} }) => [inputs.node, plainValue(inputs.machineConfiguration) as string]),
    );
  }

  /** All resources in the state, except the stack itself and default providers. */
  async resources(): Promise<Kept[]> {
    const { deployment } = await this.engine.exported();
    const all = (deployment.resources ?? []) as Omit<Kept, "name">[];
    return all.filter(({ urn }) => !isOfEngine(urn)).map((resource) => ({ ...resource, name: nameIn(resource.urn) }));
  }

  /** kubectl with the stack's kubeconfig. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return this.lab.said("kubectl", ["--kubeconfig", await this.access("kubeconfig"), ...args]);
  }

  /** talosctl with the stack's talosconfig. */
  async talosctl(...args: readonly string[]): Promise<string> {
    return this.lab.said("talosctl", ["--talosconfig", await this.access("talosconfig"), ...args]);
  }

  down(): Promise<void> {
    return this.lab.down();
  }

  /** The file with one of the stack's outputs. */
  private access(kind: "kubeconfig" | "talosconfig"): Promise<string> {
    const file = this.handedOut.get(kind) ?? this.outputs().then((outputs) => this.lab.write(kind, outputs[kind]));
    this.handedOut.set(kind, file);
    return file;
  }

  private write(): void {
    const keys = Object.entries(this.config).map(([key, value]) => [`sluice:${key}`, value]);
    this.engine.configure(Object.fromEntries(keys));
  }
}

/** What the sample repository's secret is sealed for. */
export function sealingKey(): Record<string, string> {
  const { data } = parse(readFileSync(join(sample, "sealing-key.yaml"), "utf8"));
  return {
    "sluice:sealedSecretsCertificate": readFileSync(join(sample, "sealing-certificate.pem"), "utf8"),
    "sluice:sealedSecretsKey": Buffer.from(data["tls.key"], "base64").toString(),
  };
}

/** The stack itself, and default providers. */
function isOfEngine(urn: string): boolean {
  return /::(pulumi:pulumi:Stack::\S+|pulumi:providers:[\w-]+::default(_\S+)?)$/.test(urn);
}

function nameIn(urn: string): string {
  return urn.slice(urn.lastIndexOf("::") + 2);
}

/** Reads the engine's own record of a run: a sequence of events in JSON. */
function stepsIn(log: string): Step[] {
  const steps: Step[] = [];
  const running = new Map<string, Step>();
  for (const [at, line] of log.trimEnd().split("\n").entries()) {
    const event = JSON.parse(line || "{}");
    const { metadata } = event.resourcePreEvent ?? event.resOutputsEvent ?? event.resOpFailedEvent ?? {};
    if (metadata === undefined || isOfEngine(metadata.urn)) continue;
    const { op, urn, type } = metadata;
    if (event.resourcePreEvent !== undefined) {
      running.set(urn, { op, type, name: nameIn(urn), failed: false, began: at, ended: at });
      continue;
    }
    const step = running.get(urn);
    if (step === undefined) continue;
    running.delete(urn);
    // What a refresh finds is known after the read.
    steps.push({ ...step, op, ended: at, failed: event.resOpFailedEvent !== undefined });
  }
  return [...steps, ...running.values()].filter(({ op }) => op !== "same").sort((a, b) => a.began - b.began);
}
