import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { Clock } from "../waiting/clock.ts";
import { withDeadline } from "../waiting/deadline.ts";
import { readKubeconfig } from "./kubeconfig.ts";

export interface Call {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** For a PATCH: what is merged into the object, or applied. */
  readonly body?: unknown;
  /** How the server treats a PATCH. Default: merge. */
  readonly patch?: "merge" | "apply";
  /** Format of the answer. Default: JSON. */
  readonly accept?: string;
  readonly signal: AbortSignal;
  /** Milliseconds until the answer must have started, and then for the rest of it. */
  readonly deadlineMs: number;
  /** Whether it may reuse the connection of an earlier call, which saves the server a handshake. */
  readonly isShared?: boolean;
}

const patchTypes = { merge: "application/merge-patch+json", apply: "application/apply-patch+yaml" } as const;

/** Why a call got no usable answer. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";
  /** The status of the API's answer; undefined if it did not answer. */
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
 * The Kubernetes API of a kubeconfig. It uses Node's own HTTP client: the watch of the official library waits a second before each retry, and its lists have
 * no deadline. Each call has its own connection, so that none hangs on a dead one. Calls that may share a connection do not wait for each other, and drop it
 * when a call gets no answer.
 */
export class KubernetesClient {
  readonly server: string;
  private readonly agent: Agent;
  private readonly sharing: Agent;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly clock: Clock;

  constructor(kubeconfig: string, clock: Clock) {
    const { server, token, ...identity } = readKubeconfig(kubeconfig);
    this.server = server;
    this.agent = new Agent({ ...identity, keepAlive: false });
    this.sharing = new Agent({ ...identity, keepAlive: true, maxFreeSockets: 1 });
    this.headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.clock = clock;
  }

  /** Resolves with the start of an answer, whatever its status. */
  answer(
    path: string,
    { method = "GET", body, patch = "merge", accept = "application/json", signal, deadlineMs, isShared = false }: Call,
  ): Promise<IncomingMessage> {
    const url = new URL(path, this.server);
    const sent = method === "PATCH" ? patchTypes[patch] : "application/json";
    const headers = { ...this.headers, accept, "content-type": sent };
    const call = request(url, { agent: isShared ? this.sharing : this.agent, method, headers, signal });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      call.on("response", resolve);
      call.on("error", (error: NodeJS.ErrnoException) =>
        reject(new KubernetesError(inWords(error, url), { code: error.code })),
      );
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
    return withDeadline(this.clock, deadlineMs, answered, () => {
      call.destroy();
      const seconds = deadlineMs / 1000;
      return new KubernetesError(`${url.host} did not answer within ${seconds} s`, { code: "ETIMEDOUT" });
    });
  }

  /** A complete answer; any status other than success is an error in the API's own words. */
  async text(path: string, call: Call): Promise<string> {
    const response = await this.answer(path, call);
    try {
      const parts = await withDeadline(this.clock, call.deadlineMs, response.toArray(), () => {
        response.destroy();
        return new Error("the answer ended early");
      });
      const text = Buffer.concat(parts).toString("utf8");
      const { statusCode: status = 0 } = response;
      if (status < 200 || status > 299) throw new KubernetesError(`${status} ${wordsOf(text)}`, { status });
      return text;
    } catch (error) {
      throw error instanceof KubernetesError ? error : new KubernetesError(`${(error as Error).message} (${path})`);
    }
  }

  /** The next call that may share a connection opens a new one. */
  endShared(): void {
    for (const socket of Object.values(this.sharing.freeSockets).flat()) socket?.destroy();
  }

  async json<T>(path: string, call: Call): Promise<T> {
    return JSON.parse(await this.text(path, call));
  }
}

/** The message of a `Status` object, with the budget that forbids the request; the failing checks of a list of checks; or the text unchanged. */
function wordsOf(text: string): string {
  try {
    const { message, details } = JSON.parse(text);
    const causes: readonly { reason?: string; message?: string }[] = details?.causes ?? [];
    const budgets = causes.filter(({ reason }) => reason === "DisruptionBudget").map((cause) => cause.message);
    return [message ?? text, ...budgets].join(" ");
  } catch {
    return (failingChecks(text) ?? text.trim()).slice(0, 500);
  }
}

/** From the answer of `/readyz`, one line for each check: `[+]ping ok`, `[-]etcd failed: reason withheld`. */
function failingChecks(text: string): string | undefined {
  const failing = [...text.matchAll(/^\[-\](.+)$/gm)].map(([, check = ""]) => check.trim());
  return failing.length === 0 ? undefined : failing.join("; ");
}

function inWords(error: NodeJS.ErrnoException, { host }: URL): string {
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: `${host} refuses the connection`,
    ECONNRESET: `${host} reset the connection`,
    EHOSTUNREACH: `there is no route to ${host}`,
    ENETUNREACH: `there is no route to ${host}`,
    ENOTFOUND: `${host} is a name that cannot be resolved`,
  };
  return words[error.code ?? ""] ?? `${host}: ${error.message}`;
}
