// Talos' own client, and a cluster that is created only with it and the cloud's API.
import { join } from "node:path";
import type { Ended } from "../../../scripts/base/run.ts";
import { Cloud, type Server } from "./cloud.ts";
import type { Fact } from "./facts.ts";
import type { Lab } from "./lab.ts";

export interface ClusterOptions {
  readonly talos: string;
  readonly controlPlanes: number;
  readonly workers: number;
  /** Patches of every machine config, as YAML. */
  readonly patches?: readonly string[];
}

/** Resolves once the node answers without a config, after the fact if one is given. */
export function inMaintenance(lab: Lab, subject: string, after?: Fact): Promise<Fact> {
  return lab.until({ subject, what: "api", value: "maintenance", after });
}

export class Cluster {
  readonly lab: Lab;
  readonly cloud: Cloud;
  readonly controlPlanes: readonly Server[];
  readonly workers: readonly Server[];
  private readonly talos: string;

  private constructor(lab: Lab, talos: string, controlPlanes: readonly Server[], workers: readonly Server[]) {
    this.lab = lab;
    this.cloud = new Cloud(lab);
    this.talos = talos;
    this.controlPlanes = controlPlanes;
    this.workers = workers;
  }

  /** Servers in maintenance, with configs for them in files and nothing applied. */
  static async servers(lab: Lab, { talos, controlPlanes, workers, patches = [] }: ClusterOptions): Promise<Cluster> {
    const cloud = new Cloud(lab);
    const image = await cloud.snapshot(talos);
    const make = (role: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => cloud.server(`${role}-${index + 1}`, { image })));
    const cluster = new Cluster(lab, talos, await make("cp", controlPlanes), await make("w", workers));
    await cluster.generate(patches);
    await Promise.all(cluster.nodes.map(({ name }) => inMaintenance(lab, name)));
    return cluster;
  }

  /** The same, bootstrapped, with every node Ready. */
  static async ready(lab: Lab, options: ClusterOptions): Promise<Cluster> {
    const cluster = await Cluster.servers(lab, options);
    await cluster.applyAll();
    await cluster.bootstrap();
    await Promise.all(cluster.nodes.map(({ name }) => lab.until({ subject: name, what: "node", value: "ready" })));
    return cluster;
  }

  get nodes(): readonly Server[] {
    return [...this.controlPlanes, ...this.workers];
  }

  get first(): Server {
    const [first] = this.controlPlanes;
    if (first === undefined) throw new Error("the cluster has no control plane");
    return first;
  }

  get worker(): Server {
    const [first] = this.workers;
    if (first === undefined) throw new Error("the cluster has no worker");
    return first;
  }

  roleOf(node: Server): "controlplane" | "worker" {
    return this.workers.includes(node) ? "worker" : "controlplane";
  }

  /** The file of a node's machine config. */
  configOf(node: Server): string {
    return join(this.lab.files, `${this.roleOf(node)}.yaml`);
  }

  get talosconfig(): string {
    return join(this.lab.files, "talosconfig");
  }

  get kubeconfig(): string {
    return join(this.lab.files, "kubeconfig");
  }

  /** `talosctl --nodes <node> <args>` with the cluster's own credentials, by the first control plane unless the arguments name another. */
  talosctl(node: Server, args: readonly string[], endpoint: Server = this.first): Promise<Ended> {
    return this.lab.exec("talosctl", [...this.options(node, endpoint), ...args]);
  }

  /** Its output; a failure is an error. */
  said(node: Server, ...args: readonly string[]): Promise<string> {
    return this.lab.said("talosctl", [...this.options(node, this.first), ...args]);
  }

  watch(node: Server, ...args: readonly string[]) {
    return this.lab.watch("talosctl", [...this.options(node, this.first), ...args]);
  }

  /** A call of the maintenance service. */
  insecure(node: Server, ...args: readonly string[]): Promise<Ended> {
    return this.lab.exec("talosctl", [...args, "--insecure", "--nodes", node.address]);
  }

  /** Calls all nodes, four at a time, because each call is a process. */
  async applyAll(): Promise<void> {
    const left = [...this.nodes];
    const lane = async () => {
      for (let node = left.shift(); node !== undefined; node = left.shift()) await this.apply(node);
    };
    await Promise.all([lane(), lane(), lane(), lane()]);
  }

  async apply(node: Server): Promise<void> {
    const { code, stderr } = await this.insecure(node, "apply-config", "--file", this.configOf(node));
    if (code !== 0) throw new Error(`apply-config to ${node.name}: ${stderr}`);
  }

  /** Resolves once the first control plane waits to be bootstrapped, and its API has replaced that of maintenance, which may be later. */
  async waiting(): Promise<void> {
    await this.lab.until({ subject: this.first.name, what: "service", value: "Preparing", detail: { id: "etcd" } });
    await this.lab.until({ subject: this.first.name, what: "api", value: "apid" });
  }

  async bootstrap(): Promise<void> {
    await this.waiting();
    await this.said(this.first, "bootstrap");
    await this.lab.until({ subject: this.first.name, what: "etcd", value: "member" });
  }

  async fetchKubeconfig(): Promise<void> {
    await this.said(this.first, "kubeconfig", "--force", "--merge=false", this.kubeconfig);
  }

  /** kubectl with the cluster's kubeconfig. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.lab.said("kubectl", ["--kubeconfig", this.kubeconfig, ...args]);
  }

  private options(node: Server, endpoint: Server): string[] {
    return ["--talosconfig", this.talosconfig, "--endpoints", endpoint.address, "--nodes", node.address];
  }

  private async generate(patches: readonly string[]): Promise<void> {
    const contract = this.talos.split(".").slice(0, 2).join(".");
    // The newest that this Talos version runs: talosctl would choose the newest that it supports itself.
    const kubernetes = contract === "1.12" ? "1.35.4" : "1.36.4";
    await this.lab.said("talosctl", [
      ...["gen", "config", "lab", `https://${this.first.address}:6443`, "--talos-version", `v${contract}`],
      ...["--kubernetes-version", kubernetes],
      ...["--output", this.lab.files, "--with-docs=false", "--with-examples=false"],
      ...patches.flatMap((patch) => ["--config-patch", patch]),
    ]);
  }
}
