// Nodes with the parts of the Talos API that are used here. They change only by the calls to them, and by a test.
import { status } from "@grpc/grpc-js";
import { stringify } from "yaml";
import {
  kubeletSpecs,
  staticPodStatuses,
  staticPods,
} from "../../../components/talos/access/controlPlaneComponents.ts";
import type { NodeAccess, NodeClient } from "../../../components/talos/access/nodeAccess.ts";
import { machineConfigs } from "../../../components/talos/access/nodeResources.ts";
import type { Validity } from "../../../components/talos/client/handshake.ts";
import type { NodeState } from "../../../components/talos/client/nodeState.ts";
import { resources } from "../../../components/talos/client/resources.ts";
import type {
  ApplyMode,
  ResourceEvent,
  ResourceType,
  TalosResource,
  TalosService,
} from "../../../components/talos/client/talosClient.ts";
import { mainDocument } from "../../../components/talos/config/configDocuments.ts";
import { rebootChanges } from "../../../components/talos/config/rebootRules.ts";
import { FakeClock } from "./fakeClock.ts";

export const credentials = { ca: "ca", crt: "crt", key: "MARKER of the key" };

export function config(machine: object = {}, type = "worker"): string {
  return stringify({ version: "v1alpha1", machine: { type, token: "MARKER of the token", ...machine }, cluster: {} });
}

/** An error as grpc-js makes it. */
export function refusal(code: status, details: string): Error {
  return Object.assign(new Error(`${code} ${details}`), { code, details });
}

export const unavailable = () => refusal(status.UNAVAILABLE, "Connection dropped");

/** A fault of a call: it throws this error. */
export function raise(error: Error): () => never {
  return () => {
    throw error;
  };
}

/** The message that some work fails with. */
export function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "it succeeded",
    ({ message }: Error) => message,
  );
}

export interface FakeEtcd {
  state: string;
  healthy: boolean;
  /** Whether it has ever written anything; one that runs has. */
  data?: boolean;
  /** Its last event. */
  message?: string;
  /** When it was started, by the node's clock: the boot starts it at 1, and containers run from 5 on. */
  startedMs?: number;
}

const etcdImage = "registry/etcd:v1";

export class FakeNode {
  /** Every call that would change something, in order. */
  readonly calls: string[] = [];
  kind: NodeState["kind"] = "maintenance";
  /** What its certificate is not valid for, while it is invalid. */
  invalid: Validity = "name";
  running: string | undefined;
  persistent: string | undefined;
  etcd: FakeEtcd = { state: "Preparing", healthy: false };
  /** Of machined. */
  log: string[] = [];
  images: string[] = [etcdImage];
  /** The control plane's static pods by their names, as Talos has written them and as they run; none on a worker. */
  readonly pods = new Map<string, { manifest: string; readonly spec?: object; readonly status: object | undefined }>();
  kubelet: { spec: unknown; version: string; healthy: boolean } = { spec: "as at first", version: "1", healthy: true };
  /** Lines of files, by their path. */
  readonly files = new Map<string, readonly string[]>();
  /** What Talos has for Kubernetes. */
  manifests: readonly object[] = [];
  /** What a container of a pod has printed. */
  podLog: string[] = [];
  /** Whether the service that runs containers is up. */
  cri = true;
  members: readonly string[] = [];
  version = "1.13.8";
  schematic = "the-schematic";
  /** Whether it reports to be ready; undefined if it reports nothing of that. */
  ready: boolean | undefined;
  readonly installer = new FakeInstaller();
  kubeconfig = "";
  /** What etcd's snapshot consists of. */
  snapshot: readonly Uint8Array[] = [];
  /** The snapshot that the node was given. */
  recovered: Buffer | undefined;
  /** Called when etcd has lost a member, with its name. */
  without: (name: string) => void = () => undefined;
  mac = "02:00:00:00:00:01";
  uuid = "the-uuid";
  /** The number of the machine's current boot. */
  boots = 1;
  /** While it is ours. */
  stage = "running";
  /** Whether it has another address without its config. */
  isMoved = false;
  /** Whether an accepted bootstrap has an effect. */
  heeds = () => true;
  /** Errors by the name of the call; the first one is used first. */
  readonly faults = new Map<string, (() => unknown)[]>();
  readonly name: string;
  private readonly clock: FakeClock;
  private readonly watchers = new Set<() => void>();

  constructor(name: string, clock: FakeClock) {
    this.name = name;
    this.clock = clock;
  }

  /** A node that runs this config. */
  runs(running: string): this {
    this.kind = "ours";
    this.running = running;
    this.persistent = running;
    return this;
  }

  fail(call: string, ...faults: readonly (() => unknown)[]): this {
    this.faults.set(call, [...(this.faults.get(call) ?? []), ...faults]);
    return this;
  }

  changed(): void {
    for (const wake of this.watchers) wake();
  }

  /** Goes down, and comes back in another boot. */
  restart(): void {
    this.kind = "unreachable";
    this.clock.after(3000, () => {
      this.boots += 1;
      this.log = [];
      this.installer.boot(this);
      if (this.etcd.state !== "Running") this.etcd = { state: "Preparing", healthy: false, data: this.hasData };
      this.stage = "running";
      this.boot();
    });
  }

  /** Comes back in the state of the next boot. */
  boot(): void {
    this.running = this.persistent;
    if (this.running !== undefined) this.kind = "ours";
    this.changed();
  }

  state(): NodeState {
    switch (this.kind) {
      case "foreign":
        return { kind: "foreign", why: "its certificate is of others" };
      case "invalid":
        return { kind: "invalid", of: this.invalid, why: `its certificate is valid for another ${this.invalid}` };
      case "unreachable":
        return { kind: "unreachable", why: "no answer", refused: true };
      case "settling":
        return { kind: "settling", version: `v${this.version}`, stage: "booting" };
      default:
        return { kind: this.kind, version: `v${this.version}` };
    }
  }

  client(way: "maintenance" | "ours"): NodeClient {
    const called = async (name: string) => {
      if (this.kind !== way) throw unavailable();
      this.faults.get(name)?.shift()?.();
    };
    const snapshot = () => this.snapshot;
    const lines = (path: string) => this.files.get(path);
    async function* files(path: string) {
      await called("fileLines");
      const found = lines(path);
      if (found === undefined) throw refusal(status.NOT_FOUND, `${path}: no such file or directory`);
      yield* found;
    }
    return {
      close: () => undefined,
      version: async () => {
        await called("version");
        return { version: `v${this.version}`, arch: "amd64", platform: "metal" };
      },
      applyConfiguration: async ({ config, mode, dryRun = false }) => {
        if (!dryRun) this.calls.push(`apply ${mode}`);
        await called(dryRun ? "trial" : "apply");
        return this.apply(config, mode, dryRun);
      },
      bootstrap: async ({ recoverEtcd = false } = {}) => {
        this.calls.push(recoverEtcd ? "bootstrap with the snapshot" : "bootstrap");
        await called("bootstrap");
        this.log.push("[talos] bootstrap request received");
        this.etcd = { state: "Preparing", healthy: false, startedMs: 10 };
        if (!this.heeds()) return;
        this.etcd = { state: "Running", healthy: true };
        this.changed();
      },
      reboot: async () => {
        this.calls.push("reboot");
        await called("reboot");
        this.restart();
      },
      bootId: async () => {
        await called("bootId");
        return `boot ${this.boots}`;
      },
      services: async () => {
        await called("services");
        return this.services();
      },
      hasEtcdData: async () => {
        await called("hasEtcdData");
        return this.hasData;
      },
      logLines: async () => {
        await called("logLines");
        return this.log;
      },
      podLines: async () => this.podLog,
      fileLines: (path) => files(path),
      kernelLines: async () => this.installer.kernelLog,
      system: this.installer.calls(this, called),
      systemImages: async () => this.images,
      etcdMembers: async () => {
        await called("etcdMembers");
        return this.members.map((name) => ({ id: name, name, peerUrls: [`https://${name}:2380`], learner: false }));
      },
      etcdSnapshot: async function* (this: void) {
        await called("etcdSnapshot");
        yield* snapshot();
      },
      etcdRecover: async (snapshot) => {
        this.calls.push("recover");
        await called("etcdRecover");
        this.recovered = Buffer.concat(await Array.fromAsync(snapshot));
      },
      etcdForfeitLeadership: async () => {
        this.calls.push("forfeit");
        await called("etcdForfeitLeadership");
      },
      etcdLeave: async () => {
        this.calls.push("leave");
        await called("etcdLeave");
        this.etcd = { state: "Finished", healthy: false };
        this.without(this.name);
      },
      etcdRemoveMember: async (id) => {
        this.calls.push(`remove ${id}`);
        await called("etcdRemoveMember");
        this.without(id);
      },
      kubeconfig: async () => {
        await called("kubeconfig");
        return this.kubeconfig;
      },
      restartKubelet: async () => {
        this.calls.push("restart kubelet");
        await called("restartKubelet");
      },
      reset: async () => {
        this.calls.push("reset");
        await called("reset");
        this.running = undefined;
        this.persistent = undefined;
        this.kind = "unreachable";
        this.clock.after(3000, () => {
          if (!this.isMoved) this.kind = "maintenance";
        });
      },
      get: async (of, id) => {
        await called("get");
        return this.list(of).find((found) => found.id === id);
      },
      list: async (of) => {
        await called("list");
        return this.list(of);
      },
      watch: (of, { signal } = {}) => this.watch(of, way, signal),
    };
  }

  private get hasData(): boolean {
    return this.etcd.data ?? this.etcd.state === "Running";
  }

  private services(): readonly TalosService[] {
    const { state, healthy, message = "Running pre state", startedMs = 1 } = this.etcd;
    const events = [
      { state: "Starting", message: "Starting service", atMs: startedMs },
      { state, message, atMs: startedMs + 1 },
    ];
    const cri = { state: "Running", message: "Health check successful", atMs: 5 };
    return [
      { id: "etcd", state, healthy, message, events },
      ...(this.cri ? [{ id: "cri", healthy: true, ...cri, events: [cri] }] : []),
    ];
  }

  private apply(config: string, chosen: ApplyMode, dryRun: boolean) {
    const needsReboot = this.running !== undefined && rebootChanges(this.running, config).length > 0;
    const mode = chosen === "AUTO" ? (needsReboot ? "REBOOT" : "NO_REBOOT") : chosen;
    if (!dryRun) {
      this.persistent = config;
      if (this.kind === "maintenance") this.clock.after(2000, () => this.boot());
      else if (mode === "NO_REBOOT") this.boot();
    }
    return { mode, details: "", warnings: [] };
  }

  private list({ type }: ResourceType): readonly TalosResource[] {
    const specs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      [machineConfigs.type]: { [mainDocument]: this.running, persistent: this.persistent },
      [resources.machineStatus.type]: {
        machine: {
          stage: this.kind === "ours" ? this.stage : "maintenance",
          ...(this.ready !== undefined && { status: { ready: this.ready, unmetConditions: this.installer.unmet } }),
        },
      },
      "MetaKeys.runtime.talos.dev": { "0x06": this.installer.isOnTrial ? { value: "A" } : undefined },
      "ServicePIDs.runtime.talos.dev": { installer: this.installer.isRunning ? { pid: 1 } : undefined },
      [resources.services.type]: {
        etcd: { running: this.etcd.state === "Running", healthy: this.etcd.healthy },
        cri: this.cri ? { running: true, healthy: true } : undefined,
        kubelet: { running: true, healthy: this.kubelet.healthy },
      },
      [resources.etcdSpec.type]: { etcd: { image: etcdImage } },
      [staticPods.type]: Object.fromEntries(
        [...this.pods].map(([name, { manifest, spec }]) => [
          name,
          { metadata: { name, namespace: "kube-system" }, manifest, ...(spec !== undefined && { spec }) },
        ]),
      ),
      [staticPodStatuses.type]: Object.fromEntries(
        [...this.pods].map(([name, { status }]) => [`kube-system/${name}-${this.name}`, status]),
      ),
      "Manifests.kubernetes.talos.dev": { all: this.manifests },
      [kubeletSpecs.type]: { kubelet: this.kubelet.spec },
      [resources.links.type]: { lo: { hardwareAddr: "00:00:00:00:00:00" }, eth0: { hardwareAddr: this.mac } },
      [resources.systemInformation.type]: { systeminformation: { uuid: this.uuid } },
      [resources.hostname.type]: { hostname: { hostname: this.name } },
      [resources.disks.type]: { sda: { dev_path: "/dev/sda", pretty_size: "80 GB", transport: "virtio" } },
      "ExtensionStatuses.runtime.talos.dev": { "0": { metadata: { name: "schematic", version: this.schematic } } },
    };
    return Object.entries(specs[type] ?? {})
      .filter(([, spec]) => spec !== undefined)
      .map(([id, spec]) => ({ id, version: id === "kubelet" ? this.kubelet.version : "1", spec }));
  }

  private async *watch(of: ResourceType, way: string, signal?: AbortSignal): AsyncGenerator<ResourceEvent> {
    for (;;) {
      if (this.kind !== way) throw unavailable();
      for (const resource of this.list(of)) yield { kind: "put", resource };
      yield { kind: "complete" };
      const end = await new Promise<"changed" | "late" | "aborted">((done) => {
        const takeBack = this.clock.after(5000, () => done("late"));
        const wake = () => done("changed");
        this.watchers.add(wake);
        signal?.addEventListener("abort", () => {
          takeBack();
          done("aborted");
        });
      });
      if (end === "aborted") throw signal?.reason;
      if (end === "late") throw refusal(status.DEADLINE_EXCEEDED, "Deadline exceeded");
    }
  }
}

interface FakeSystem {
  readonly version: string;
  readonly schematic: string;
}

/** The two systems on a node's disk, and what installs the second. */
export class FakeInstaller {
  /** Installed, and not booted yet. */
  next: FakeSystem | undefined;
  /** Whether the new system does not come up: the node boots the former one again. */
  failsBoot = false;
  exitCode = 0;
  /** What an installer prints. */
  output: readonly string[] = ["running Talos installer", "installation complete"];
  /** Whether one runs on the node, whoever started it. */
  isRunning = false;
  isOnTrial = false;
  unmet: readonly object[] = [];
  kernelLog: string[] = [];
  readonly pulled: string[] = [];

  /** "registry/installer/<schematic>:v1.13.8" */
  install(image: string): void {
    const [, schematic = "", version = ""] = /\/([^/:]*):v([^:]*)$/.exec(image) ?? [];
    this.next = { version, schematic };
  }

  boot(node: FakeNode): void {
    if (this.next !== undefined && !this.failsBoot) Object.assign(node, this.next);
    this.next = undefined;
  }

  calls(node: FakeNode, called: (name: string) => Promise<void>): NodeClient["system"] {
    const pull = async (reference: string) => {
      node.calls.push("pull");
      await called("pull");
      this.pulled.push(reference);
    };
    const install = (image: string) => this.install(image);
    const printed = () => this.output;
    const exitCode = () => this.exitCode;
    return {
      async *pull(reference: string) {
        yield { bytes: 1, ofBytes: 2 };
        await pull(reference);
      },
      pullSilently: pull,
      async *install(image: string) {
        node.calls.push("install");
        await called("install");
        node.log.push(`[talos] starting upgrade: installer_image=${image}, disk=/dev/sda`);
        for (const text of printed()) yield { text };
        await called("exit");
        if (exitCode() === 0) install(image);
        node.log.push(
          `[talos] upgrade ${exitCode() === 0 ? "completed successfully" : "failed"}: exit_code=${exitCode()}`,
        );
        yield { exitCode: exitCode() };
      },
      upgrade: async (image: string) => {
        node.calls.push("upgrade");
        await called("upgrade");
        if (exitCode() === 0) install(image);
        node.stage = "upgrading";
        node.changed();
        node.restart();
      },
    } as unknown as NodeClient["system"];
  }
}

/** A context with these nodes, each reached by its own name. */
export class FakeWorld {
  readonly clock = new FakeClock();
  readonly said: string[] = [];
  readonly noted: string[] = [];
  readonly nodes = new Map<string, FakeNode>();
  readonly random = () => 0;
  readonly report = (text: string) => void this.said.push(text);
  readonly note = async (text: string) => void this.noted.push(text);
  readonly access: NodeAccess = {
    probe: async (talosAddress) => this.node(talosAddress).state(),
    maintenance: (talosAddress) => this.node(talosAddress).client("maintenance"),
    configured: (talosAddress, _credentials, node = talosAddress) => this.node(node).client("ours"),
  };

  add(name: string): FakeNode {
    const node = new FakeNode(name, this.clock);
    this.nodes.set(name, node);
    return node;
  }

  /** Control planes that run etcd with these members; one that is removed is gone for all of them. */
  addControlPlanes(names: readonly string[], members: readonly string[] = names): FakeNode[] {
    const nodes = names.map((name) => this.add(name).runs(config({}, "controlplane")));
    for (const node of nodes) {
      node.etcd = { state: "Running", healthy: true };
      node.members = members;
      node.without = (gone) => {
        for (const one of nodes) one.members = one.members.filter((name) => name !== gone);
      };
    }
    return nodes;
  }

  node(name: string): FakeNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }
}

/** Everything that a user can read. */
export function everythingSaid(context: FakeWorld, error?: unknown): string {
  return JSON.stringify([context.said, context.noted, error instanceof Error ? error.message : error]);
}
