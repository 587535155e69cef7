import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { gunzipSync } from "node:zlib";
import { type ChannelCredentials, credentials as channel, status } from "@grpc/grpc-js";
import { parse } from "yaml";
import { type CallOptions, codeOf, defaultDeadline, NodeConnection, type Raw } from "./connection.ts";
import { onlyFile } from "./tar.ts";

/** PEM in base64, as the provider's clientConfiguration hands them out. */
export interface TalosCredentials {
  readonly ca: string;
  readonly crt: string;
  readonly key: string;
}

export type ApplyMode = "REBOOT" | "AUTO" | "NO_REBOOT" | "STAGED" | "TRY";

export interface Applied {
  /** The mode that was chosen. */
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
  /** Nothing where the service has no health check. */
  readonly healthy?: boolean;
  /** What the service or its health check said last. */
  readonly message: string;
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
  readonly version: string;
  readonly spec: unknown;
}

export type ResourceEvent =
  | { readonly kind: "put" | "gone"; readonly resource: TalosResource }
  /** All that was there when the watch began has been told. */
  | { readonly kind: "complete" };

/** Which resources: a type with its namespace. */
export interface ResourceType {
  readonly namespace: string;
  readonly type: string;
}

/** Where a running kernel tells which of the machine's boots it is. */
const bootIdFile = "/proc/sys/kernel/random/boot_id";

/** The Talos API of one node. Connects with the first call. */
export class TalosClient {
  readonly endpoint: string;
  readonly #connection: NodeConnection;

  private constructor(endpoint: string, credentials: ChannelCredentials, node?: string) {
    this.endpoint = endpoint;
    this.#connection = new NodeConnection(endpoint, credentials, node);
  }

  /** For a node in maintenance: its certificate is its own, and it asks for none. */
  static maintenance(endpoint: string): TalosClient {
    return new TalosClient(endpoint, channel.createSsl(null, null, null, { rejectUnauthorized: false }));
  }

  /** For a node with a config. `node` is another one than the endpoint, reached through it. */
  static configured(endpoint: string, { ca, crt, key }: TalosCredentials, node?: string): TalosClient {
    const verify = {
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(endpoint, certificate),
    };
    return new TalosClient(endpoint, channel.createSsl(decodePem(ca), standardKey(key), decodePem(crt), verify), node);
  }

  async version(options?: CallOptions): Promise<TalosVersion> {
    const { version, platform } = first(await this.#connection.call("machine", "Version", {}, options));
    return { version: version?.tag ?? "", arch: version?.arch ?? "", platform: platform?.name ?? "" };
  }

  /** `config` is sent as it is; nothing of it comes back but what the node says of it. */
  async applyConfiguration(
    request: { readonly config: string; readonly mode: ApplyMode; readonly dryRun?: boolean },
    options?: CallOptions,
  ): Promise<Applied> {
    const { config, mode, dryRun = false } = request;
    const sent = { data: Buffer.from(config), mode, dryRun };
    const applied = first(await this.#connection.call("machine", "ApplyConfiguration", sent, options));
    return { mode: applied.mode, details: applied.modeDetails, warnings: applied.warnings };
  }

  async bootstrap(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "Bootstrap", {}, options);
  }

  async reboot(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "Reboot", {}, options);
  }

  /** Wipes what makes the machine a node, and nothing besides: its config and its data. It boots into maintenance. Does not drain and does not leave etcd. */
  async reset(options?: CallOptions): Promise<void> {
    const partitions = ["STATE", "EPHEMERAL"].map((label) => ({ label, wipe: true }));
    const request = { graceful: false, reboot: true, systemPartitionsToWipe: partitions };
    await this.#connection.call("machine", "Reset", request, options);
  }

  /** Another one after each boot. */
  async bootId(options: CallOptions = {}): Promise<string> {
    return (await this.#data("Read", { path: bootIdFile }, options)).toString().trim();
  }

  /** One for an administrator, new with every call; it names the address that nodes call the API by. Of control planes only. */
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
    }));
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

  /** Nothing where the member does not lead. */
  async etcdForfeitLeadership(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "EtcdForfeitLeadership", {}, options);
  }

  /** Takes the node's own member out and stops its etcd, for good. */
  async etcdLeave(options?: CallOptions): Promise<void> {
    await this.#connection.call("machine", "EtcdLeaveCluster", {}, options);
  }

  /** Takes a member out that cannot do so itself; `id` as the list of members has it. */
  async etcdRemoveMember(id: string, options?: CallOptions): Promise<void> {
    const request = { memberId: BigInt(`0x${id}`).toString() };
    await this.#connection.call("machine", "EtcdRemoveMemberByID", request, options);
  }

  async etcdAlarms(options?: CallOptions): Promise<readonly EtcdAlarm[]> {
    const { memberAlarms } = first(await this.#connection.call("machine", "EtcdAlarmList", {}, options));
    return memberAlarms.map(({ memberId, alarm }: Raw) => ({ memberId: BigInt(memberId).toString(16), alarm }));
  }

  /** Nothing where there is no such resource. */
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
    const bounded = { ...options, deadline: options.deadline ?? defaultDeadline };
    for await (const answer of this.#connection.stream("state", "List", of, bounded))
      found.push(resource(answer.resource));
    return found;
  }

  /** What is there, then every change, until the signal; ends with an error when the connection does. */
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

  /** All of what is sent in pieces. */
  async #data(call: string, request: object, options: CallOptions): Promise<Buffer> {
    const parts: Buffer[] = [];
    const bounded = { ...options, deadline: options.deadline ?? defaultDeadline };
    for await (const { bytes } of this.#connection.stream("machine", call, request, bounded)) parts.push(bytes);
    return Buffer.concat(parts);
  }
}

/** One node is asked, so there is one message. */
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
  return { id: metadata.id, version: metadata.version, spec: parse(spec?.yamlSpec ?? "") };
}

export function decodePem(base64: string): Buffer {
  return Buffer.from(base64, "base64");
}

/** Talos names the algorithm in the PEM header, which OpenSSL does not know; what is inside is plain PKCS #8. */
export function standardKey(key: string): Buffer {
  return Buffer.from(decodePem(key).toString().replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY"));
}
