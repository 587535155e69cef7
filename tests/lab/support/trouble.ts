// Runs of one environment with failures. Each must report them in a helpful way, and leave alone what is already done.
import { expect } from "@jest/globals";
import { Secrets } from "../../support/leaks.ts";
import type { Chain, Config, Kept, Run } from "./chain.ts";

/** What is created one after another, by the ends of their types; sealed-secrets is installed beside the driver for volumes. */
const stages = [
  ...["gates:Preflight", "talos:AppliedMachineConfig", "gates:Stages", "talos:Bootstrap", "gates:Etcd"],
  ...["gates:TalosServices", "talos:Kubeconfig", "gates:KubernetesApi", "gates:NodesJoined"],
  ...["platform:Cilium", "gates:CiliumReady", "platform:HcloudCloudControllerManager", "gates:NodesReady"],
  ...["platform:HcloudCsi", "gates:CsiReady", "platform:SealedSecrets", "gates:SealedSecretsReady"],
  ...["platform:Flux", "gates:GitOpsReady"],
] as const;
type Stage = (typeof stages)[number];

/** Facts of a node that was changed. */
const changing = ["config", "bootstrap", "installed", "wiped"];

export class Trouble {
  readonly chain: Chain;
  /** The engine's complete output. */
  private readonly said: string[] = [];
  private done = new Map<string, Kept>();

  constructor(chain: Chain) {
    this.chain = chain;
  }

  /** An `up` that ends at a stage, or at two that are side by side: returns their messages, by the names of what failed. */
  async endsAt(
    stage: Stage | readonly [Stage, Stage],
    changes: Config = {},
  ): Promise<Readonly<Record<string, string>>> {
    this.chain.configure(changes);
    const expected = [stage].flat() as readonly Stage[];
    const run = await this.chain.run("up");
    const told = diagnostics(run.stdout);
    const failed = run.steps.filter((step) => step.failed);
    expect({
      code: run.code,
      at: [...new Set(failed.map(({ type }) => type.split("/").at(-1)))].sort(),
      run: run.stdout,
    }).toEqual({ code: expect.any(Number), at: expected.toSorted(), run: expect.any(String) });
    expect(run.code).not.toBe(0);
    // Only the program's messages: no stack trace, and nothing twice.
    expect(run.stdout + run.stderr).not.toMatch(/^\s+at .+:\d+:\d+\)?$/m);
    expect(Object.keys(told).toSorted()).toEqual(expect.arrayContaining(failed.map(({ name }) => name).toSorted()));
    const kept = await this.leftAlone(run);
    // Nothing after a closed gate, and not the gate itself.
    const behind = stages.slice(Math.max(...expected.map((one) => stages.indexOf(one))) + 1);
    const early = kept.filter(
      ({ type }) => behind.some((one) => type.endsWith(one)) || expected.some((one) => isGate(type, one)),
    );
    expect(early.map(({ name, type }) => `${type} ${name}`)).toEqual([]);
    return told;
  }

  /** An `up` that completes the chain. */
  async comesThrough(changes: Config = {}): Promise<Run> {
    this.chain.configure(changes);
    const run = await this.chain.up();
    await this.leftAlone(run);
    return run;
  }

  /** What was done to nodes, and how often. */
  get changes(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { subject, what, value } of this.chain.lab.facts.all) {
      const change = `${subject} ${what} ${value}`;
      if (changing.includes(what)) counts[change] = (counts[change] ?? 0) + 1;
    }
    return counts;
  }

  /** The names of the environment's secrets that the output contains. */
  async leaks(): Promise<string[]> {
    const secrets = new Secrets();
    const { kubeconfig, talosconfig } = await this.chain.outputs();
    const configs = await this.chain.machineConfigs();
    for (const [name, text] of Object.entries<string>({ kubeconfig, talosconfig, ...configs })) {
      for (const [at, value] of secretValues(text)) secrets.add(`${name} ${at}`, value);
    }
    secrets.add("the token of the cloud", (await this.chain.lab.said("printenv", ["HCLOUD_TOKEN"])).trim());
    expect(secrets.names.length).toBeGreaterThan(20);
    return secrets.foundIn(this.said.join("\n"));
  }

  /** What existed before still exists, with the same id, and was not changed. */
  private async leftAlone(run: Run): Promise<readonly Kept[]> {
    this.said.push(run.stdout, run.stderr);
    const touched = run.steps.filter(({ op, type }) => op !== "create" && !type.startsWith("pulumi:providers:"));
    expect(touched).toEqual([]);
    const kept = await this.chain.resources();
    const now = new Map(kept.map((resource) => [resource.urn, resource]));
    const ids = (resources: ReadonlyMap<string, Kept>) =>
      Object.fromEntries([...this.done.keys()].map((urn) => [urn, resources.get(urn)?.id]));
    expect(ids(now)).toEqual(ids(this.done));
    this.done = now;
    return kept;
  }
}

function isGate(type: string, stage: Stage): boolean {
  return stage.startsWith("gates:") && type.endsWith(stage);
}

/** The engine's final messages about each resource, without the line that everything failed. */
function diagnostics(said: string): Record<string, string> {
  const [, after = ""] = said.split("\nDiagnostics:\n");
  const [text = ""] = after.split(/^(?:Outputs|Resources):$/m);
  const blocks = text.split(/^ {2}(?=\S)/m).filter((block) => block.trim() !== "");
  const named = blocks.map((block): [string, string] => {
    const [head = "", ...lines] = block.trimEnd().split("\n");
    return [/\((.+)\):$/.exec(head)?.[1] ?? head, lines.join("\n").replace(/^ {4}/gm, "").trim()];
  });
  return Object.fromEntries(named.filter(([, lines]) => lines !== "error: update failed"));
}

/** Values of a YAML file that are keys and the like, by their line. */
function secretValues(text: string): [string, string][] {
  const lines = text.split("\n").map((line) => /^[\s-]*([\w-]+): (\S{16,})$/.exec(line));
  return lines.flatMap((match, index): [string, string][] => {
    const [, key = "", value = ""] = match ?? [];
    return /key|token|secret/i.test(key) ? [[`${key} in line ${index + 1}`, value]] : [];
  });
}
