// One attempt: a request goes to the API unchanged, and its answer comes back unchanged.
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Clock } from "../../components/waiting/clock.ts";
import { type ApiAnswer, type ApiRequest, isRepeatable, Unanswered } from "./attempts.ts";

export interface FullRequest extends ApiRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Headers of a connection, and not of the request or answer that it carries. */
const ofConnection = [
  ...["connection", "host", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "content-length"],
];

/** A name that is misspelt and a certificate that is not accepted stay as they are. */
const transientCodes = [
  ...["EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "EPIPE", "ETIMEDOUT"],
  // Errors of a malformed answer: the connection broke in the middle of it.
  "HPE_INVALID_EOF_STATE",
];

export class Upstream {
  private readonly origin: URL;
  private readonly answerSeconds: number;
  private readonly clock: Clock;
  private readonly agents: { readonly kept: HttpAgent; readonly fresh: HttpAgent };

  /** `answerSeconds` is how long an attempt may take, from the connection to the end of the answer. */
  constructor(url: URL, { answerSeconds, clock }: { readonly answerSeconds: number; readonly clock: Clock }) {
    this.origin = url;
    this.answerSeconds = answerSeconds;
    this.clock = clock;
    // Through the user's own network proxy, if there is one, as the plugin itself would.
    const Agent = url.protocol === "https:" ? HttpsAgent : HttpAgent;
    const agent = (keepAlive: boolean) => new Agent({ keepAlive, proxyEnv: process.env });
    this.agents = { kept: agent(true), fresh: agent(false) };
  }

  /** Rejects with `Unanswered`. */
  send(request: FullRequest, signal: AbortSignal): Promise<ApiAnswer> {
    const { method, path, headers, body } = request;
    const { protocol, hostname, port } = this.origin;
    const isSecure = protocol === "https:";
    let wasSent = false;
    const late = new AbortController();
    const cancel = this.clock.after(this.answerSeconds * 1000, () => late.abort());
    return new Promise<ApiAnswer>((done, fail) => {
      const call = (isSecure ? httpsRequest : httpRequest)({
        ...{ hostname: hostname.replace(/^\[|\]$/g, ""), port, method, path },
        headers: { ...forwarded(headers), ...(body.length > 0 && { "content-length": body.length }) },
        // The API may be about to close an idle connection: then it would be unknown whether it received a request on it.
        agent: isRepeatable(request) ? this.agents.kept : this.agents.fresh,
        signal: AbortSignal.any([signal, late.signal]),
      });
      call.on("socket", (socket: Socket) => {
        const sends = () => {
          wasSent = true;
        };
        if (socket.connecting) socket.once(isSecure ? "secureConnect" : "connect", sends);
        else sends();
      });
      call.on("error", fail);
      call.on("response", (response) => read(response).then(done, fail));
      call.end(body);
    })
      .catch((error: NodeJS.ErrnoException) => {
        if (late.signal.aborted) {
          throw new Unanswered(`timed out after ${this.answerSeconds} s`, { wasSent, isTransient: true });
        }
        throw new Unanswered(reasonOf(error), { wasSent, isTransient: transientCodes.includes(error.code ?? "") });
      })
      .finally(cancel);
  }

  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }
}

/** Message and code: that of a broken connection has no code in it, and that of several addresses is empty. */
function reasonOf({ message, code = "" }: NodeJS.ErrnoException): string {
  return message.includes(code) ? message : `${message} (${code})`.trimStart();
}

async function read(response: IncomingMessage): Promise<ApiAnswer> {
  const parts = await response.toArray();
  const headers: string[] = [];
  for (let at = 0; at < response.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = response.rawHeaders.slice(at, at + 2);
    if (!ofConnection.includes(name.toLowerCase())) headers.push(name, value);
  }
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(parts) };
}

function forwarded(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)));
}
