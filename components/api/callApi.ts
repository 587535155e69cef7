// Calls of cloud APIs that Sluice itself makes: one call with a deadline. Retries are up to the caller.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { ApiError } from "./apiError.ts";

/** Where an API is, and the agent that sends the calls. */
export interface Api {
  /** What paths are appended to: `https://api.hetzner.cloud/v1`. */
  readonly url: string;
  /** Seconds after which a call counts as unanswered. */
  readonly deadlineSeconds: number;
  /** Accept a self-signed certificate. */
  readonly insecure?: boolean;
  /** Default: over the network. */
  readonly send?: Send;
}

export interface ApiRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ApiResponse {
  readonly status: number;
  /** The text of the status line. */
  readonly reason: string;
  readonly body: string;
}

export type Send = (
  url: string,
  request: ApiRequest & { readonly signal: AbortSignal; readonly insecure: boolean },
) => Promise<ApiResponse>;

/** Makes one call. `read` returns undefined for an unexpected answer; `words` returns the API's own error message. */
export async function callApi<T>(
  { url, deadlineSeconds, insecure = false, send = overTheNetwork }: Api,
  path: string,
  request: ApiRequest,
  {
    read,
    words,
  }: { readonly read: (body: string) => T | undefined; readonly words: (response: ApiResponse) => string },
): Promise<T> {
  const signal = AbortSignal.timeout(deadlineSeconds * 1000);
  const response = await send(`${url}${path}`, { ...request, signal, insecure }).catch(
    (error: NodeJS.ErrnoException) => {
      // If a host has several addresses, the error for all of them has a code but no message.
      const words = error.message || error.code || error.name;
      const reason = signal.aborted ? `nothing within ${deadlineSeconds} s` : words;
      throw new ApiError(`${url} does not answer: ${reason}`);
    },
  );
  const isOk = response.status >= 200 && response.status < 300;
  const found = isOk ? read(response.body) : undefined;
  if (found !== undefined) return found;
  throw new ApiError(`${url} answers ${response.status}${words(response)}`.trimEnd(), response.status);
}

/** Undefined if the text is not JSON: a proxy between here and the API answers in HTML. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Node's own client instead of fetch, which cannot accept a self-signed certificate. */
const overTheNetwork: Send = (url, { method = "GET", headers = {}, body, signal, insecure }) =>
  new Promise((done, fail) => {
    const options = { method, headers, signal };
    const call = url.startsWith("https:")
      ? httpsRequest(url, { ...options, rejectUnauthorized: !insecure })
      : httpRequest(url, options);
    call.on("response", (response) => {
      const { statusCode: status = 0, statusMessage: reason = "" } = response;
      response
        .toArray()
        .then((parts) => done({ status, reason, body: Buffer.concat(parts).toString("utf8") }))
        .catch(fail);
    });
    call.on("error", fail);
    call.end(body);
  });
