import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { gunzipSync } from "node:zlib";
import { type ChannelCredentials, credentials as channel, status } from "@grpc/grpc-js";
import { parse } from "yaml";
import { type CallOptions, codeOf, defaultDeadlineSeconds, NodeConnection, type Raw } from "./connection.ts";
import { decodePem, standardKey } from "./pem.ts";
import { SystemCalls } from "./systemCalls.ts";
import { onlyFile } from "./tar.ts";

/** PEM in base64, as in the provider's clientConfiguration. */
export interface TalosCredentials {
  readonly ca: string;
  readonly crt: string;
  readonly key: string;
}

export type ApplyMode = "REBOOT" | "AUTO" | "NO_REBOOT" | "STAGED" | "TRY";

export interface Applied {
  /** The mode that Talos chose. */
  readonly mode: ApplyMode;
  readonly details: string;
  readonly warnings: readonly string[];
}

export interface TalosVersion {
  readonly version: string;
  readonly arch: string;
  readonly platform: string;
}

export interface TalosService {
  readonly id: string;
  /** Such as "Running", "Preparing", "Waiting", "Finished", "Skipped", "Failed". */
  readonly state: string;
  /** Undefined if the service has no health check. */
  readonly healthy?: boolean;
  /** The last message of the service or its health check. */
  readonly message: string;
  /** Its events since it was started, oldest first; Talos keeps the last 64. */
  readonly events: readonly ServiceEvent[];
}

export interface ServiceEvent {
  readonly state: string;
  readonly message: string;
  /** By the node's clock, which may be wrong. */
  readonly atMs: number;
}

export interface EtcdMember {
  /** Hexadecimal, as etcd prints it. */
  readonly id: string;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly learner: boolean;
}

export interface EtcdAlarm {
  readonly memberId: string;
  readonly alarm: string;
}

export interface TalosResource {
  readonly id: string;
  /** Changes with each change of the resource, also if it was destroyed and created again: Talos then counts from 1. */
  readonly version: string;
  readonly spec: unknown;
}

export type ResourceEvent =
  | { readonly kind: "put" | "gone"; readonly resource: TalosResource }
  /** All existing resources have been reported. */
  | { readonly kind: "complete" };

/** The resources to watch: a type and its namespace. */
export interface ResourceType {
  readonly namespace: string;
  readonly type: string;
}

/** The directory of etcd's data on a node. */
const etcdFolder = "/var/lib/etcd";
/** The kernel's id of the current boot. */
const bootIdFile = "/proc/sys/kernel/random/boot_id";

/** The Talos API of one node. Connects with the first call. */
export class TalosClient {
  readonly talosAddress: string;
  /** The calls that bring another Talos onto its disk. */
  readonly system: SystemCalls;
  readonly #connection: NodeConnection;

  private constructor(talosAddress: string, credentials: ChannelCredentials, node?: string) {
    this.talosAddress = talosAddress;
    this.#connection = new NodeConnection(talosAddress, credentials, node);
    this.system = new SystemCalls(this.#connection);
  }

  /** For a node in maintenance: it has a self-signed certificate, and requires none. */
  static maintenance(talosAddress: string): TalosClient {
    return new TalosClient(talosAddress, channel.createSsl(null, null, null, { rejectUnauthorized: false }));
  }

  /** For a node with a config. `node` is another node, reached through the one at talosAddress. */
  static configured(talosAddress: string, { ca, crt, key }: TalosCredentials, node?: string): TalosClient {
    const verify = {
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(talosAddress, certificate),
    };
    return new TalosClient(
      talosAddress,
      channel.createSsl(decodePem(ca), standardKey(key), decodePem(crt), verify),
      node,
    );
  }

  async version(options?: CallOptions): Promise<TalosVersion> {
    const { version, platform } = first(await this.#connection.call("machine", "Version", {}, options));
    return { version: version?.tag ?? "", arch: version?.arch ?? "", platform: platform?.name ?? "" };
  }

  /** `config` is sent unchanged; only the node's own words about it are returned. */
  async applyConfiguration(
    request: { readonly config: string; readonly mode: ApplyMode; readonly dryRun?: boolean },
    options?: CallOptions,
  ): Promise<Applied> {
    const { config, mode, dryRun = false } = request;
    const sent = { data: Buffer.from(config), mode, dryRun };
    const applied = first(await this.#connection.call("machine", "ApplyConfiguration", sent, options));
    return { mode: applied.mode, details: applied.modeDetails, warnings: applied.warnings };
  }

  /** Talos cancels the bootstrap if the connection ends: etcd is then stopped while it starts. With `recoverEtcd` it starts with the snapshot that the node has. */
  async bootstrap({ recoverEtcd = false, ...options }: CallOptions & { readonly recoverEtcd?: boolean } = {}) {
    await this.#connection.call("machine", "Bootstrap", { recoverEtcd }, options);
  }

  /** A copy of etcd's database, followed by its SHA-256. */
  async *etcdSnapshot(options: CallOptions = {}): AsyncGenerator<Uint8Array> {
    for await (const { bytes } of this.#connection.stream("machine", "EtcdSnapshot", {}, options)) yield bytes;
  }

  /** Gives the node a snapshot, which it keeps until it is bootstrapped or reset. */
  async etcdRecover(snapshot: AsyncIterable<Uint8Array>, options?: CallOptions): Promise<void> {
    async function* messages() {
      for await (const bytes of snapshot) yield { bytes };
    }
    await this.#connection.send("machine", "EtcdRecover", messages(), options);
  }

  async reboot(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "Reboot", {}, options);
  }

  /** Wipes only the machine's config and data, and nothing else; it boots into maintenance. Does not drain and does not leave etcd. */
  async reset(options?: CallOptions): Promise<void> {
    const partitions = ["STATE", "EPHEMERAL"].map((label) => ({ label, wipe: true }));
    const request = { graceful: false, reboot: true, systemPartitionsToWipe: partitions };
    await this.#connection.call("machine", "Reset", request, options);
  }

  /** Changes with each boot. */
  async bootId(options: CallOptions = {}): Promise<string> {
    return (await this.#data("Read", { path: bootIdFile }, options)).toString().trim();
  }

  /** An administrator's kubeconfig, new with every call; it names the address at which nodes call the API. Only control planes have one. */
  async kubeconfig(options: CallOptions = {}): Promise<string> {
    return onlyFile(gunzipSync(await this.#data("Kubeconfig", {}, options)));
  }

  async services(options?: CallOptions): Promise<readonly TalosService[]> {
    const { services } = first(await this.#connection.call("machine", "ServiceList", {}, options));
    return services.map(({ id, state, events, health }: Raw) => ({
      id,
      state,
      ...(health === null || health.unknown ? {} : { healthy: health.healthy }),
      message: health?.lastMessage || events?.events.at(-1)?.msg || "",
      events: (events?.events ?? []).map(({ msg, state: was, ts }: Raw) => ({
        state: was,
        message: msg,
        atMs: Number(ts?.seconds ?? 0) * 1000 + Math.trunc(Number(ts?.nanos ?? 0) / 1e6),
      })),
    }));
  }

  /** The node's pods keep running. A kubelet registers its node only when it starts. */
  async restartKubelet(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "ServiceRestart", { id: "kubelet" }, options);
  }

  /** Whether etcd has ever written anything on this node. */
  async hasEtcdData(options?: CallOptions): Promise<boolean> {
    try {
      const files = await this.#stream("List", { root: etcdFolder }, options);
      const unread = files.find(({ error }) => error !== "");
      if (unread !== undefined) throw new Error(unread.error);
      return files.some(({ relativeName }) => relativeName !== ".");
    } catch (error) {
      if (/no such file or directory/.test(String(error))) return false;
      throw error;
    }
  }

  /** The last lines of one of Talos' own logs. */
  async logLines(id: string, lines: number, options: CallOptions = {}): Promise<readonly string[]> {
    const text = (await this.#data("Logs", { namespace: "system", id, tailLines: lines }, options)).toString();
    return text.split("\n").filter((line) => line !== "");
  }

  /** A text file of the node, line by line while it is read. */
  async *fileLines(path: string, options: CallOptions): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const { bytes } of this.#connection.stream("machine", "Read", { path }, options)) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest !== "") yield rest;
  }

  /** The last lines of a container of a pod, by Talos' id of it: "kube-system/kube-apiserver-cp-1:kube-apiserver". */
  async podLines(id: string, lines: number, options: CallOptions = {}): Promise<readonly string[]> {
    const request = { namespace: "k8s.io", driver: "CRI", id, tailLines: lines };
    return (await this.#data("Logs", request, options)).toString().split("\n");
  }

  /** The last lines of the kernel's log, which also has what an installer of Talos before 1.13 prints. */
  async kernelLines(lines: number, options: CallOptions = {}): Promise<readonly string[]> {
    const text = (await this.#data("Dmesg", {}, options)).toString();
    return text
      .split("\n")
      .filter((line) => line !== "")
      .slice(-lines);
  }

  /** The images that were pulled for Talos' services, with all their names. */
  async systemImages(options?: CallOptions): Promise<readonly string[]> {
    return (await this.#stream("ImageList", { namespace: "SYSTEM" }, options)).map(({ name }) => name);
  }

  /** As this node sees them, without asking another one. */
  async etcdMembers(options?: CallOptions): Promise<readonly EtcdMember[]> {
    const { members } = first(await this.#connection.call("machine", "EtcdMemberList", { queryLocal: true }, options));
    return members.map(({ id, hostname, peerUrls, isLearner }: Raw) => ({
      id: BigInt(id).toString(16),
      name: hostname,
      peerUrls,
      learner: isLearner,
    }));
  }

  /** Up to which entry of its log the node's own member has come. */
  async etcdAppliedIndex(options?: CallOptions): Promise<number> {
    const { memberStatus } = first(await this.#connection.call("machine", "EtcdStatus", {}, options));
    return Number(memberStatus.raftAppliedIndex);
  }

  /** Does nothing if the member is not the leader. */
  async etcdForfeitLeadership(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "EtcdForfeitLeadership", {}, options);
  }

  /** Removes the node's own member and stops its etcd for good. */
  async etcdLeave(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "EtcdLeaveCluster", {}, options);
  }

  /** Removes a member that cannot leave by itself; `id` is the one in the list of members. */
  async etcdRemoveMember(id: string, options?: CallOptions): Promise<void> {
    const request = { memberId: BigInt(`0x${id}`).toString() };
    await this.#connection.call("machine", "EtcdRemoveMemberByID", request, options);
  }

  async etcdAlarms(options?: CallOptions): Promise<readonly EtcdAlarm[]> {
    const { memberAlarms } = first(await this.#connection.call("machine", "EtcdAlarmList", {}, options));
    return memberAlarms.map(({ memberId, alarm }: Raw) => ({ memberId: BigInt(memberId).toString(16), alarm }));
  }

  /** Undefined if there is no such resource. */
  async get(of: ResourceType, id: string, options?: CallOptions): Promise<TalosResource | undefined> {
    try {
      return resource((await this.#connection.call("state", "Get", { ...of, id }, options)).resource);
    } catch (error) {
      if (codeOf(error) === status.NOT_FOUND) return undefined;
      throw error;
    }
  }

  async list(of: ResourceType, options: CallOptions = {}): Promise<readonly TalosResource[]> {
    const found: TalosResource[] = [];
    const bounded = { ...options, deadlineSeconds: options.deadlineSeconds ?? defaultDeadlineSeconds };
    for await (const answer of this.#connection.stream("state", "List", of, bounded))
      found.push(resource(answer.resource));
    return found;
  }

  /** The existing resources, then every change, until the signal; ends with an error when the connection breaks. */
  async *watch(of: ResourceType, options: CallOptions = {}): AsyncGenerator<ResourceEvent> {
    const request = { ...of, options: { bootstrapContents: true }, apiVersion: 1 };
    for await (const { event: events } of this.#connection.stream("state", "Watch", request, options)) {
      for (const event of events) {
        const told = resourceEvent(event);
        if (told !== undefined) yield told;
      }
    }
  }

  close(): void {
    this.#connection.close();
  }

  /** Joins all pieces of a streamed answer. */
  async #data(call: string, request: object, options: CallOptions): Promise<Buffer> {
    const parts = await this.#stream(call, request, options);
    return Buffer.concat(parts.map(({ bytes }) => bytes));
  }

  async #stream(call: string, request: object, options: CallOptions = {}): Promise<readonly Raw[]> {
    const parts: Raw[] = [];
    const bounded = { ...options, deadlineSeconds: options.deadlineSeconds ?? defaultDeadlineSeconds };
    for await (const part of this.#connection.stream("machine", call, request, bounded)) parts.push(part);
    return parts;
  }
}

/** Only one node is asked, so there is one message. */
function first(answer: Raw): Raw {
  return answer.messages[0] ?? {};
}

function resourceEvent({ eventType, resource: changed, error }: Raw): ResourceEvent | undefined {
  switch (eventType) {
    case "CREATED":
    case "UPDATED":
      return { kind: "put", resource: resource(changed) };
    case "DESTROYED":
      return { kind: "gone", resource: resource(changed) };
    case "BOOTSTRAPPED":
      return { kind: "complete" };
    case "ERRORED":
      throw new Error(`the watch ended: ${error}`);
    default:
      return undefined;
  }
}

function resource({ metadata, spec }: Raw): TalosResource {
  const { id, version, created } = metadata;
  return { id, version: `${created?.seconds}.${created?.nanos}/${version}`, spec: parse(spec?.yamlSpec ?? "") };
}
