// The platform's API as the engine's plugin reaches it during a run: on this host's loopback. Transient failures are retried if that is safe, and every call
// gets an answer. docs/decisions/api-proxy.md
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../components/waiting/clock.ts";
import { retryApi } from "../../components/waiting/retry.ts";
import { type ApiAnswer, lastAnswer, mayRepeat, nameOf, unlessFailed } from "./attempts.ts";
import { SlowCalls } from "./slowCalls.ts";
import { type FullRequest, Upstream } from "./upstream.ts";

/** Seconds until an attempt counts as unanswered. Hetzner's own front ends stop waiting for their backends earlier. */
const answerSeconds = 30;

/** No attempt starts later than this after the first. */
const retrySeconds = 60;

export interface ApiProxyOptions {
  /** The API's name in messages: "Hetzner". */
  readonly title: string;
  /** Where it is: `https://api.hetzner.cloud/v1`. */
  readonly url: string;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly report: (text: string) => void;
}

export class ApiProxy {
  /** The address that the plugin gets instead of the API's own. */
  readonly url: string;
  private readonly server: Server;
  private readonly upstream: Upstream;
  private readonly slow: SlowCalls;
  private readonly options: ApiProxyOptions;

  private constructor(server: Server, options: ApiProxyOptions) {
    const api = new URL(options.url);
    this.server = server;
    this.options = options;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${api.pathname.replace(/\/$/, "")}`;
    this.upstream = new Upstream(api, { answerSeconds, clock: options.clock });
    this.slow = new SlowCalls(options.title, options);
  }

  static async start(options: ApiProxyOptions): Promise<ApiProxy> {
    const server = createServer();
    // If this side closed a connection while the plugin sends its next request, that request would fail.
    server.keepAliveTimeout = 0;
    await new Promise<void>((done, fail) => {
      server.once("error", fail).listen(0, "127.0.0.1", done);
    });
    const proxy = new ApiProxy(server, options);
    server.on("request", (request, response) => void proxy.serve(request, response));
    return proxy;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    this.upstream.close();
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const body = Buffer.concat(await incoming.toArray());
      const { method = "GET", url: path = "/", headers } = incoming;
      const { status, headers: own, body: content } = await this.answer({ method, path, headers, body }, gone.signal);
      const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
      response.writeHead(status, hasBody ? [...own, "Content-Length", String(content.length)] : [...own]);
      response.end(content);
    } catch {
      // Nobody is left to get an answer.
      response.destroy();
    }
  }

  private async answer(request: FullRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const { clock, random } = this.options;
    const began = clock.now();
    const tracked = this.slow.begin(nameOf(request));
    const attempt = async () => {
      try {
        return unlessFailed(await this.upstream.send(request, signal));
      } catch (error) {
        tracked.failed((error as Error).message);
        throw error;
      }
    };
    const retryable = (error: unknown) => !signal.aborted && mayRepeat(request, error);
    const ended = await retryApi(attempt, { clock, random, deadlineSeconds: retrySeconds, retryable });
    tracked.end(ended.ok);
    signal.throwIfAborted();
    return ended.ok ? ended.value : lastAnswer(request, ended, (clock.now() - began) / 1000);
  }
}
