import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { Clock } from "../gates/clock.ts";
import { readKubeconfig } from "./kubeconfig.ts";

export interface Call {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Of a PATCH what is merged into the object. */
  readonly body?: unknown;
  /** The form of the answer. Default: JSON. */
  readonly accept?: string;
  readonly signal: AbortSignal;
  /** Milliseconds until the answer must have begun. */
  readonly patience: number;
}

/** Why a call got no answer that can be used. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";
  /** The status that the API answered with; undefined when it did not answer. */
  readonly status: number | undefined;
  /** The code of Node or OpenSSL, such as `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(
    message: string,
    { status, code }: { readonly status?: number; readonly code?: string | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * The Kubernetes API by a kubeconfig. The calls are Node's own: the official library's watch waits for a second before each new try, and its lists
 * have no deadline. Every call has a connection of its own, so that none is stuck on one that is dead.
 */
export class KubernetesClient {
  readonly server: string;
  private readonly agent: Agent;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly clock: Clock;

  constructor(kubeconfig: string, clock: Clock) {
    const { server, token, ...identity } = readKubeconfig(kubeconfig);
    this.server = server;
    this.agent = new Agent({ ...identity, keepAlive: false });
    this.headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.clock = clock;
  }

  /** Resolves with the beginning of an answer, whatever its status. */
  answer(
    path: string,
    { method = "GET", body, accept = "application/json", signal, patience }: Call,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const url = new URL(path, this.server);
      const sent = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const headers = { ...this.headers, accept, "content-type": sent };
      const call = request(url, { agent: this.agent, method, headers, signal });
      const takeBack = this.clock.after(patience, () =>
        call.destroy(
          new KubernetesError(`${url.host} did not answer within ${patience / 1000} s`, { code: "ETIMEDOUT" }),
        ),
      );
      call.on("response", (response) => {
        takeBack();
        resolve(response);
      });
      call.on("error", (error: NodeJS.ErrnoException) => {
        takeBack();
        reject(
          error instanceof KubernetesError ? error : new KubernetesError(inWords(error, url), { code: error.code }),
        );
      });
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** The whole of an answer; any status but success is an error in the API's own words. */
  async text(path: string, call: Call): Promise<string> {
    const response = await this.answer(path, call);
    const takeBack = this.clock.after(call.patience, () => response.destroy(new Error("the answer broke off")));
    try {
      const text = Buffer.concat(await response.toArray()).toString("utf8");
      const { statusCode: status = 0 } = response;
      if (status < 200 || status > 299) throw new KubernetesError(`${status} ${wordsOf(text)}`, { status });
      return text;
    } catch (error) {
      throw error instanceof KubernetesError ? error : new KubernetesError(`${(error as Error).message} (${path})`);
    } finally {
      takeBack();
    }
  }

  async json<T>(path: string, call: Call): Promise<T> {
    return JSON.parse(await this.text(path, call));
  }
}

/** The message of a `Status` object, with the budget that forbids it where that is why; or the text as it is. */
function wordsOf(text: string): string {
  try {
    const { message, details } = JSON.parse(text);
    const causes: readonly { reason?: string; message?: string }[] = details?.causes ?? [];
    const budgets = causes.filter(({ reason }) => reason === "DisruptionBudget").map((cause) => cause.message);
    return [message ?? text, ...budgets].join(" ");
  } catch {
    return text.trim().slice(0, 500);
  }
}

function inWords(error: NodeJS.ErrnoException, { host }: URL): string {
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: `${host} refuses the connection`,
    ECONNRESET: `${host} broke the connection off`,
    EHOSTUNREACH: `there is no way to ${host}`,
    ENETUNREACH: `there is no way to ${host}`,
    ENOTFOUND: `${host} is a name that nobody knows`,
  };
  return words[error.code ?? ""] ?? `${host}: ${error.message}`;
}
