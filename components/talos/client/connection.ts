import { isIPv6 } from "node:net";
import { pipeline } from "node:stream/promises";
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
  /** Seconds for the complete call; a watch has no deadline unless it is given. */
  readonly deadlineSeconds?: number;
}

/** A message as proto-loader decodes it; every field has a value. */
export interface Raw {
  // biome-ignore lint/suspicious/noExplicitAny: decoded by our own .proto files, whose fields are named where they are read
  readonly [field: string]: any;
}

const port = 50000;
/** Seconds for a call. */
export const defaultDeadlineSeconds = 10;

const loaded = loadPackageDefinition(
  loadSync(
    ["talos.proto", "cosi.proto"].map((file) => fileURLToPath(new URL(file, import.meta.url))),
    { longs: String, enums: String, defaults: true },
  ),
) as unknown as {
  readonly machine: Readonly<Record<"MachineService" | "ImageService" | "LifecycleService", ServiceClientConstructor>>;
  readonly cosi: { readonly resource: { readonly State: ServiceClientConstructor } };
};
const services = {
  machine: loaded.machine.MachineService.service,
  image: loaded.machine.ImageService.service,
  lifecycle: loaded.machine.LifecycleService.service,
  state: loaded.cosi.resource.State.service,
} as const satisfies Readonly<Record<string, ServiceDefinition>>;

type Service = keyof typeof services;

/**
 * The connection to one node, opened by the first call. After an error that may come from the connection, the next call opens a new one, so that no call
 * waits for the back-off of a dead connection.
 */
export class NodeConnection {
  readonly #talosAddress: string;
  readonly #credentials: ChannelCredentials;
  readonly #metadata = new Metadata();
  #connection: Connection | undefined;

  /** `node` is another node, reached through the one at talosAddress. */
  constructor(talosAddress: string, credentials: ChannelCredentials, node?: string) {
    this.#talosAddress = talosAddress;
    this.#credentials = credentials;
    if (node !== undefined) this.#metadata.set("node", node);
  }

  call(service: Service, name: string, request: object, options: CallOptions = {}): Promise<Raw> {
    const { path, requestSerialize, responseDeserialize } = method(service, name);
    const { signal, deadlineSeconds = defaultDeadlineSeconds } = options;
    const connection = this.#connect();
    return new Promise((done, fail) => {
      if (signal?.aborted) return fail(signal.reason);
      const call = connection.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        { deadline: Date.now() + deadlineSeconds * 1000 },
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

  /** A call that sends messages one after the other. */
  async send(
    service: Service,
    name: string,
    requests: AsyncIterable<object>,
    { signal, deadlineSeconds = defaultDeadlineSeconds }: CallOptions = {},
  ): Promise<Raw> {
    signal?.throwIfAborted();
    const { path, requestSerialize, responseDeserialize } = method(service, name);
    const connection = this.#connect();
    const answer = Promise.withResolvers<Raw>();
    const call = connection.makeClientStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#metadata,
      { deadline: Date.now() + deadlineSeconds * 1000 },
      (error: ServiceError | null, answered?: object) => {
        if (error === null) return answer.resolve(answered as Raw);
        this.#drop(connection, error);
        answer.reject(signal?.aborted ? signal.reason : error);
      },
    );
    const cancel = () => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    // The node may answer, with an error, before it has read everything.
    const written = pipeline(requests, call as unknown as NodeJS.WritableStream).catch((error: unknown) => {
      call.cancel();
      throw error;
    });
    try {
      return await Promise.race([answer.promise, written.then(() => answer.promise)]);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  async *stream(
    service: Service,
    name: string,
    request: object,
    { signal, deadlineSeconds }: CallOptions,
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
      deadlineSeconds === undefined ? {} : { deadline: Date.now() + deadlineSeconds * 1000 },
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
    const host = isIPv6(this.#talosAddress) ? `[${this.#talosAddress}]` : this.#talosAddress;
    this.#connection ??= new Connection(`${host}:${port}`, this.#credentials, {
      // A separate connection: a shared one would also share another client's back-off.
      "grpc.use_local_subchannel_pool": 1,
      "grpc.enable_retries": 0,
      // An address is not allowed as a server name (RFC 6066), and Node warns about it; the client checks the certificate against talosAddress itself.
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

/** The gRPC code of an error; undefined if it has none. */
export function codeOf(error: unknown): status | undefined {
  // A DOMException has numeric codes of another kind.
  if (!(error instanceof Error) || error instanceof DOMException || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

function method(service: Service, name: string): MethodDefinition<object, object> {
  const found = (services[service] as ServiceDefinition)[name];
  if (found === undefined) throw new Error(`there is no method ${name} in the .proto files`);
  return found;
}
