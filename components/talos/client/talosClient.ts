import { isIPv6 } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { fileURLToPath } from "node:url";
import {
  type ChannelCredentials,
  type ClientReadableStream,
  Client as Connection,
  credentials as channel,
  loadPackageDefinition,
  Metadata,
  type MethodDefinition,
  type ServiceClientConstructor,
  type ServiceDefinition,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { parse } from "yaml";

/** PEM in base64, as the provider's clientConfiguration hands them out. */
export interface TalosCredentials {
  readonly ca: string;
  readonly crt: string;
  readonly key: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Seconds for the whole call; a watch has none unless given. */
  readonly deadline?: number;
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

interface Raw {
  // What proto-loader makes of a message; every field has a value.
  // biome-ignore lint/suspicious/noExplicitAny: decoded by our own .proto files, whose fields are named right here
  readonly [field: string]: any;
}

const port = 50000;
const defaultDeadline = 10;

const loaded = loadPackageDefinition(
  loadSync(
    ["talos.proto", "cosi.proto"].map((file) => fileURLToPath(new URL(file, import.meta.url))),
    { longs: String, enums: String, defaults: true },
  ),
) as unknown as {
  readonly machine: { readonly MachineService: ServiceClientConstructor };
  readonly cosi: { readonly resource: { readonly State: ServiceClientConstructor } };
};
const machineService = loaded.machine.MachineService.service;
const stateService = loaded.cosi.resource.State.service;

/**
 * The Talos API of one node. Connects with the first call. After an error that may lie in the connection the next call makes a fresh one, so that
 * no call waits for the back-off of a connection that died before it.
 */
export class TalosClient {
  readonly endpoint: string;
  readonly #credentials: ChannelCredentials;
  readonly #metadata = new Metadata();
  #connection: Connection | undefined;

  private constructor(endpoint: string, credentials: ChannelCredentials, node?: string) {
    this.endpoint = endpoint;
    this.#credentials = credentials;
    if (node !== undefined) this.#metadata.set("node", node);
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
    const { version, platform } = first(await this.#call(machineService, "Version", {}, options));
    return { version: version?.tag ?? "", arch: version?.arch ?? "", platform: platform?.name ?? "" };
  }

  /** `config` is sent as it is; nothing of it comes back but what the node says of it. */
  async applyConfiguration(
    request: { readonly config: string; readonly mode: ApplyMode; readonly dryRun?: boolean },
    options?: CallOptions,
  ): Promise<Applied> {
    const { config, mode, dryRun = false } = request;
    const sent = { data: Buffer.from(config), mode, dryRun };
    const applied = first(await this.#call(machineService, "ApplyConfiguration", sent, options));
    return { mode: applied.mode, details: applied.modeDetails, warnings: applied.warnings };
  }

  async bootstrap(options?: CallOptions): Promise<void> {
    await this.#call(machineService, "Bootstrap", {}, options);
  }

  async reboot(options?: CallOptions): Promise<void> {
    await this.#call(machineService, "Reboot", {}, options);
  }

  async services(options?: CallOptions): Promise<readonly TalosService[]> {
    const { services } = first(await this.#call(machineService, "ServiceList", {}, options));
    return services.map(({ id, state, events, health }: Raw) => ({
      id,
      state,
      ...(health === null || health.unknown ? {} : { healthy: health.healthy }),
      message: health?.lastMessage || events?.events.at(-1)?.msg || "",
    }));
  }

  /** As this node sees them, without asking another one. */
  async etcdMembers(options?: CallOptions): Promise<readonly EtcdMember[]> {
    const { members } = first(await this.#call(machineService, "EtcdMemberList", { queryLocal: true }, options));
    return members.map(({ id, hostname, peerUrls, isLearner }: Raw) => ({
      id: BigInt(id).toString(16),
      name: hostname,
      peerUrls,
      learner: isLearner,
    }));
  }

  async etcdAlarms(options?: CallOptions): Promise<readonly EtcdAlarm[]> {
    const { memberAlarms } = first(await this.#call(machineService, "EtcdAlarmList", {}, options));
    return memberAlarms.map(({ memberId, alarm }: Raw) => ({ memberId: BigInt(memberId).toString(16), alarm }));
  }

  /** Nothing where there is no such resource. */
  async get(of: ResourceType, id: string, options?: CallOptions): Promise<TalosResource | undefined> {
    try {
      return resource((await this.#call(stateService, "Get", { ...of, id }, options)).resource);
    } catch (error) {
      if (codeOf(error) === status.NOT_FOUND) return undefined;
      throw error;
    }
  }

  async list(of: ResourceType, options: CallOptions = {}): Promise<readonly TalosResource[]> {
    const found: TalosResource[] = [];
    const bounded = { ...options, deadline: options.deadline ?? defaultDeadline };
    for await (const answer of this.#stream("List", of, bounded)) found.push(resource(answer.resource));
    return found;
  }

  /** What is there, then every change, until the signal; ends with an error when the connection does. */
  async *watch(of: ResourceType, options: CallOptions = {}): AsyncGenerator<ResourceEvent> {
    const request = { ...of, options: { bootstrapContents: true }, apiVersion: 1 };
    for await (const { event: events } of this.#stream("Watch", request, options)) {
      for (const event of events) {
        const told = resourceEvent(event);
        if (told !== undefined) yield told;
      }
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  #connect(): Connection {
    this.#connection ??= new Connection(
      isIPv6(this.endpoint) ? `[${this.endpoint}]:${port}` : `${this.endpoint}:${port}`,
      this.#credentials,
      {
        // A connection of its own: a shared one would bring another client's back-off along.
        "grpc.use_local_subchannel_pool": 1,
        "grpc.enable_retries": 0,
        // An address is no server name (RFC 6066), and Node warns of it; the certificate is checked against the endpoint above.
        "grpc.ssl_target_name_override": "talos",
        "grpc.max_receive_message_length": 32 * 1024 * 1024,
      },
    );
    return this.#connection;
  }

  #call(service: ServiceDefinition, name: string, request: object, options: CallOptions = {}): Promise<Raw> {
    const { path, requestSerialize, responseDeserialize } = method(service, name);
    const { signal, deadline = defaultDeadline } = options;
    const connection = this.#connect();
    return new Promise((done, fail) => {
      if (signal?.aborted) return fail(signal.reason);
      const call = connection.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        { deadline: Date.now() + deadline * 1000 },
        (error: ServiceError | null, answer?: object) => {
          signal?.removeEventListener("abort", cancel);
          if (error === null) return done(answer as Raw);
          this.#drop(connection, error);
          fail(signal?.aborted ? signal.reason : error);
        },
      );
      const cancel = () => call.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  async *#stream(name: string, request: object, { signal, deadline }: CallOptions): AsyncGenerator<Raw> {
    signal?.throwIfAborted();
    const { path, requestSerialize, responseDeserialize } = method(stateService, name);
    const connection = this.#connect();
    const stream: ClientReadableStream<object> = connection.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      this.#metadata,
      deadline === undefined ? {} : { deadline: Date.now() + deadline * 1000 },
    );
    const cancel = () => stream.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      for await (const message of stream) yield message as Raw;
    } catch (error) {
      this.#drop(connection, error);
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
      stream.cancel();
    }
  }

  #drop(connection: Connection, error: unknown): void {
    const code = codeOf(error);
    if (code !== status.UNAVAILABLE && code !== status.DEADLINE_EXCEEDED) return;
    connection.close();
    if (this.#connection === connection) this.#connection = undefined;
  }
}

/** The gRPC code of an error, nothing for what is none. */
export function codeOf(error: unknown): status | undefined {
  // A DOMException has numbers of its own.
  if (!(error instanceof Error) || error instanceof DOMException || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

function method(service: ServiceDefinition, name: string): MethodDefinition<object, object> {
  const found = service[name];
  if (found === undefined) throw new Error(`there is no method ${name} in the .proto files`);
  return found;
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
