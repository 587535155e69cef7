// Nodes as the Talos API shows them, as far as they are asked here. They change only by what is sent to them, and by what a test says.
import { status } from "@grpc/grpc-js";
import { stringify } from "yaml";
import type { NodeState, Validity } from "../../../components/talos/client/nodeState.ts";
import { resources } from "../../../components/talos/client/resources.ts";
import type {
  ApplyMode,
  ResourceEvent,
  ResourceType,
  TalosResource,
} from "../../../components/talos/client/talosClient.ts";
import { mainDocument } from "../../../components/talos/configDocuments.ts";
import type { NodeAccess, NodeClient } from "../../../components/talos/nodeAccess.ts";
import { machineConfigs } from "../../../components/talos/nodeResources.ts";
import { rebootChanges } from "../../../components/talos/rebootRules.ts";
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

export class FakeNode {
  /** Every call that would change something, in order. */
  readonly calls: string[] = [];
  kind: NodeState["kind"] = "maintenance";
  /** What its certificate is not valid for, while it is invalid. */
  invalid: Validity = "name";
  running: string | undefined;
  persistent: string | undefined;
  etcd: { state: string; healthy: boolean } = { state: "Preparing", healthy: false };
  /** Whether the service that runs containers is up. */
  cri = true;
  members: readonly string[] = [];
  version = "1.13.8";
  schematic = "the-schematic";
  kubeconfig = "";
  /** Told when etcd has a member less, by its name. */
  without: (name: string) => void = () => undefined;
  mac = "02:00:00:00:00:01";
  uuid = "the-uuid";
  /** Which of the machine's boots it is in. */
  boots = 1;
  /** While it is ours. */
  stage = "running";
  /** Whether it has another address without its config. */
  isMoved = false;
  /** Whether something comes of a bootstrap that was accepted. */
  heeds = () => true;
  /** What goes wrong, by the name of the call; taken from the front. */
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
      this.stage = "running";
      this.boot();
    });
  }

  /** Comes back with what the next boot begins with. */
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
      bootstrap: async () => {
        this.calls.push("bootstrap");
        await called("bootstrap");
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
        return [{ id: "etcd", state: this.etcd.state, message: "" }];
      },
      etcdMembers: async () => {
        await called("etcdMembers");
        return this.members.map((name) => ({ id: name, name, peerUrls: [`https://${name}:2380`], learner: false }));
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
      [resources.machineStatus.type]: { machine: { stage: this.kind === "ours" ? this.stage : "maintenance" } },
      [resources.services.type]: {
        etcd: { running: this.etcd.state === "Running", healthy: this.etcd.healthy },
        cri: this.cri ? { running: true, healthy: true } : undefined,
      },
      [resources.links.type]: { lo: { hardwareAddr: "00:00:00:00:00:00" }, eth0: { hardwareAddr: this.mac } },
      [resources.systemInformation.type]: { systeminformation: { uuid: this.uuid } },
      [resources.disks.type]: { sda: { dev_path: "/dev/sda", pretty_size: "80 GB", transport: "virtio" } },
      "ExtensionStatuses.runtime.talos.dev": { "0": { metadata: { name: "schematic", version: this.schematic } } },
    };
    return Object.entries(specs[type] ?? {})
      .filter(([, spec]) => spec !== undefined)
      .map(([id, spec]) => ({ id, version: "1", spec }));
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

/** A world with these nodes in it, each reached at its own name. */
export class FakeWorld {
  readonly clock = new FakeClock();
  readonly said: string[] = [];
  readonly noted: string[] = [];
  readonly nodes = new Map<string, FakeNode>();
  readonly chance = () => 0;
  readonly report = (text: string) => void this.said.push(text);
  readonly note = async (text: string) => void this.noted.push(text);
  readonly access: NodeAccess = {
    probe: async (endpoint) => this.at(endpoint).state(),
    maintenance: (endpoint) => this.at(endpoint).client("maintenance"),
    configured: (endpoint, _credentials, node = endpoint) => this.at(node).client("ours"),
  };

  add(name: string): FakeNode {
    const node = new FakeNode(name, this.clock);
    this.nodes.set(name, node);
    return node;
  }

  private at(endpoint: string): FakeNode {
    const node = this.nodes.get(endpoint);
    if (node === undefined) throw new Error(`there is no node ${endpoint}`);
    return node;
  }
}

/** All that anybody could read. */
export function everythingSaid(world: FakeWorld, error?: unknown): string {
  return JSON.stringify([world.said, world.noted, error instanceof Error ? error.message : error]);
}
