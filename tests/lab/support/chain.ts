// The program under test as a person runs it: an environment on a lab of its own, and the real engine in it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { stageCharts } from "../../../scripts/lab/charts.ts";
import { platformFor } from "../../../scripts/lab/platformFor.ts";
import { root } from "../../../scripts/workspace/paths.ts";
import type { Ended } from "../../../scripts/workspace/run.ts";
import { parseClusterConfig } from "../../../stacks/config.ts";
import { type ChainEnvironment, type ChainNode, type Config, completeNode, environment } from "./chainEnvironment.ts";
import { Cloud } from "./cloud.ts";
import { Engine, type EngineCommand, type StateResource } from "./engine.ts";
import { Lab, type LabOptions } from "./lab.ts";
import type { Watch } from "./watch.ts";

export interface ChainOptions extends ChainEnvironment, Pick<LabOptions, "seed" | "scenario" | "profile"> {
  /** Whether servers of Hetzner boot an image that installs Talos when it gets its config, and not one that it is on already. */
  readonly installs?: boolean;
  /** Nodes that the environment may get later, on machines that are there from the beginning. */
  readonly spares?: readonly ChainNode[];
}

export type { Config } from "./chainEnvironment.ts";

/** How a command of the engine ended, and what it did. */
export interface Run extends Ended {
  /** What was done to which resource; what stayed as it is is left out. */
  readonly steps: readonly Step[];
  readonly seconds: number;
}

export interface Step {
  /** `create`, `update`, `delete` ...; of a refresh, what it found to have happened. */
  readonly op: string;
  readonly type: string;
  readonly name: string;
  readonly failed: boolean;
  /** When it began and ended: which of the engine's events it was. */
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
  private readonly engine: Engine;
  private readonly options: ChainOptions;
  private config: Config;
  /** The folder's files with what the stack handed out last. */
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
    const { installs = false, spares = [], seed, scenario, profile } = options;
    const config = environment(options);
    // What is there from the beginning is there for all nodes that will be.
    const nodes = [...(config.nodes as ChainNode[]), ...spares.map((node) => completeNode(options, node))];
    const { snapshots, ...platform } = platformFor(parseClusterConfig({ ...config, nodes }));
    const given = { ...platform, ...(snapshots && { snapshots: snapshots.map((one) => ({ ...one, installs })) }) };
    await stageCharts();
    const lab = await Lab.up({ seed, scenario, profile, config: stringify(given) });
    try {
      const engine = await Engine.empty(lab, root);
      // Of a key that nobody would read the program says so.
      if (config.sealedSecrets === undefined) await engine.set(sealingKey(), "--secret");
      const chain = new Chain(lab, engine, config, options);
      chain.write();
      return chain;
    } catch (error) {
      await lab.down().catch(() => undefined); // why there is none says more
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

  /** Changes the environment's file. */
  configure(changes: Config): void {
    this.config = { ...this.config, ...changes };
    this.write();
  }

  /** `pulumi <command>`; how it ends is for the test to look at. */
  async run(command: EngineCommand, ...args: readonly string[]): Promise<Run> {
    const log = join(this.lab.files, "events.json");
    this.lab.write("events.json", "");
    this.handedOut.clear();
    const began = performance.now();
    const ended = await this.engine.call(command, "--event-log", log, ...args);
    return { ...ended, steps: stepsIn(readFileSync(log, "utf8")), seconds: (performance.now() - began) / 1000 };
  }

  /** The same, and what it says as it goes on; `stop` interrupts it. */
  begin(command: EngineCommand, ...args: readonly string[]): Watch {
    return this.engine.begin(command, ...args);
  }

  /** Lets another run begin where one was killed. */
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
  async taintHalfMade(): Promise<readonly string[]> {
    return (await this.engine.taintHalfMade()).map(nameIn);
  }

  /** Changes the state itself, for what takes a year otherwise. */
  rewrite(change: (resource: StateResource) => void): Promise<void> {
    return this.engine.rewrite(change);
  }

  /** The stack's outputs, secrets in plain text. */
  // biome-ignore lint/suspicious/noExplicitAny: what they are is what the tests are about
  outputs(): Promise<any> {
    return this.engine.outputs();
  }

  /** All resources that the state has, but for the stack itself and providers that nobody made. */
  async resources(): Promise<Kept[]> {
    const { deployment } = await this.engine.exported();
    const all = (deployment.resources ?? []) as Omit<Kept, "name">[];
    return all.filter(({ urn }) => !isOfEngine(urn)).map((resource) => ({ ...resource, name: nameIn(resource.urn) }));
  }

  /** kubectl with the kubeconfig that the stack hands out. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return this.lab.said("kubectl", ["--kubeconfig", await this.access("kubeconfig"), ...args]);
  }

  /** talosctl with the talosconfig that the stack hands out. */
  async talosctl(...args: readonly string[]): Promise<string> {
    return this.lab.said("talosctl", ["--talosconfig", await this.access("talosconfig"), ...args]);
  }

  down(): Promise<void> {
    return this.lab.down();
  }

  /** The file with what the stack hands out. */
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
function sealingKey(): Record<string, string> {
  const { data } = parse(readFileSync(join(sample, "sealing-key.yaml"), "utf8"));
  return {
    "sluice:sealedSecretsCertificate": readFileSync(join(sample, "sealing-certificate.pem"), "utf8"),
    "sluice:sealedSecretsKey": Buffer.from(data["tls.key"], "base64").toString(),
  };
}

/** The stack itself, and providers that nobody made. */
function isOfEngine(urn: string): boolean {
  return /::(pulumi:pulumi:Stack::\S+|pulumi:providers:[\w-]+::default(_\S+)?)$/.test(urn);
}

function nameIn(urn: string): string {
  return urn.slice(urn.lastIndexOf("::") + 2);
}

/** Reads the engine's own record of a run: an event in JSON after the other. */
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
    // What a refresh finds is known when it has looked.
    steps.push({ ...step, op, ended: at, failed: event.resOpFailedEvent !== undefined });
  }
  return [...steps, ...running.values()].filter(({ op }) => op !== "same").sort((a, b) => a.began - b.began);
}
