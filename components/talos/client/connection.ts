import { isIPv6 } from "node:net";
import { fileURLToPath } from "node:url";
import {
  type ChannelCredentials,
  type ClientReadableStream,
  Client as Connection,
  loadPackageDefinition,
  Metadata,
  type MethodDefinition,
  type ServiceClientConstructor,
  type ServiceDefinition,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Seconds for the whole call; a watch has none unless given. */
  readonly deadline?: number;
}

/** What proto-loader makes of a message; every field has a value. */
export interface Raw {
  // biome-ignore lint/suspicious/noExplicitAny: decoded by our own .proto files, whose fields are named where they are read
  readonly [field: string]: any;
}

const port = 50000;
/** Seconds for a call. */
export const defaultDeadline = 10;

const loaded = loadPackageDefinition(
  loadSync(
    ["talos.proto", "cosi.proto"].map((file) => fileURLToPath(new URL(file, import.meta.url))),
    { longs: String, enums: String, defaults: true },
  ),
) as unknown as {
  readonly machine: { readonly MachineService: ServiceClientConstructor };
  readonly cosi: { readonly resource: { readonly State: ServiceClientConstructor } };
};
const services = {
  machine: loaded.machine.MachineService.service,
  state: loaded.cosi.resource.State.service,
} as const satisfies Readonly<Record<string, ServiceDefinition>>;

type Service = keyof typeof services;

/**
 * The way to one node. Connects with the first call. After an error that may lie in the connection the next call makes a fresh one, so that no call
 * waits for the back-off of a connection that died before it.
 */
export class NodeConnection {
  readonly #endpoint: string;
  readonly #credentials: ChannelCredentials;
  readonly #metadata = new Metadata();
  #connection: Connection | undefined;

  /** `node` is another one than the endpoint, reached through it. */
  constructor(endpoint: string, credentials: ChannelCredentials, node?: string) {
    this.#endpoint = endpoint;
    this.#credentials = credentials;
    if (node !== undefined) this.#metadata.set("node", node);
  }

  call(service: Service, name: string, request: object, options: CallOptions = {}): Promise<Raw> {
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

  async *stream(
    service: Service,
    name: string,
    request: object,
    { signal, deadline }: CallOptions,
  ): AsyncGenerator<Raw> {
    signal?.throwIfAborted();
    const { path, requestSerialize, responseDeserialize } = method(service, name);
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

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  #connect(): Connection {
    const host = isIPv6(this.#endpoint) ? `[${this.#endpoint}]` : this.#endpoint;
    this.#connection ??= new Connection(`${host}:${port}`, this.#credentials, {
      // A connection of its own: a shared one would bring another client's back-off along.
      "grpc.use_local_subchannel_pool": 1,
      "grpc.enable_retries": 0,
      // An address is no server name (RFC 6066), and Node warns of it; the certificate is checked against the endpoint by the client.
      "grpc.ssl_target_name_override": "talos",
      "grpc.max_receive_message_length": 32 * 1024 * 1024,
    });
    return this.#connection;
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

function method(service: Service, name: string): MethodDefinition<object, object> {
  const found = (services[service] as ServiceDefinition)[name];
  if (found === undefined) throw new Error(`there is no method ${name} in the .proto files`);
  return found;
}
