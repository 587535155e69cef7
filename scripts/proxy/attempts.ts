// What is made of an attempt to call an API: whether the same request is sent again, and what the plugin gets in the end. docs/decisions/api-proxy.md

import { record, text } from "../../components/model/untyped.ts";
import type { GaveUp } from "../../components/waiting/retry.ts";

/** A request as the plugin made it. */
export interface ApiRequest {
  readonly method: string;
  /** With its query: `/v1/servers?name=cp-1`. */
  readonly path: string;
}

export interface ApiAnswer {
  readonly status: number;
  /** Names and values, one after the other, as they came. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** An attempt to which no answer came. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  /** Whether the API may have got the request: the connection was made. */
  readonly wasSent: boolean;
  /** Whether it is expected to disappear. */
  readonly isTransient: boolean;

  constructor(reason: string, { wasSent, isTransient }: { readonly wasSent: boolean; readonly isTransient: boolean }) {
    super(reason);
    this.wasSent = wasSent;
    this.isTransient = isTransient;
  }
}

/** An attempt that was answered with a failure of the API itself, or with its limit. */
export class FailedAnswer extends Error {
  override readonly name = "FailedAnswer";
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super(`status code ${answer.status}${ownWords(answer)}`);
    this.answer = answer;
  }
}

/** The answer, unless it reports a failure that may be transient. */
export function unlessFailed(answer: ApiAnswer): ApiAnswer {
  if (answer.status >= 500 || answer.status === 429) throw new FailedAnswer(answer);
  return answer;
}

/** With these the API has not taken the request: its limit is used up, or it is not available. */
const untaken = [429, 503];

/** Whether the same request may be sent again after an attempt that ended like this. */
export function mayRepeat(request: ApiRequest, error: unknown): boolean {
  if (error instanceof Unanswered) return error.isTransient && (!error.wasSent || isRepeatable(request));
  return error instanceof FailedAnswer && (untaken.includes(error.answer.status) || isRepeatable(request));
}

/**
 * Whether a request does no more when the API gets it twice: it reads, it replaces, or it creates something whose name exists only once in a project, so
 * that the API refuses the second one.
 */
export function isRepeatable({ method, path }: ApiRequest): boolean {
  const [resource = ""] = path.split("?");
  return ["GET", "HEAD", "PUT"].includes(method) || (method === "POST" && isCollection(resource));
}

/** `/v1/servers`, and not `/v1/servers/17/actions/reboot`. */
function isCollection(path: string): boolean {
  return /^(\/[a-z]\w*)+$/.test(path);
}

/** The plugin's answer when no further attempt is made, the given number of seconds after the first. */
export function lastAnswer(request: ApiRequest, { error, attempts }: GaveUp, seconds: number): ApiAnswer {
  if (error instanceof FailedAnswer && !mayRepeat(request, error)) return error.answer;
  const reason = error instanceof Error ? error.message : String(error);
  const times = attempts === 1 ? "" : `, ${attempts} times in ${Math.round(seconds)} s`;
  return failure(`${nameOf(request)}: ${reason}${times}`);
}

/**
 * An error as Hetzner words errors, with a status and a code after which the plugin does not repeat the call by itself: with 504, `timeout` or
 * `rate_limit_exceeded` it would, five times.
 */
function failure(message: string): ApiAnswer {
  const body = Buffer.from(JSON.stringify({ error: { code: "no_answer", message, details: null } }));
  return { status: 503, headers: ["Content-Type", "application/json"], body };
}

/** The request in messages: `GET /v1/servers`. A query may contain names, which are not needed. */
export function nameOf({ method, path }: ApiRequest): string {
  return `${method} ${path.split("?")[0]}`;
}

/** The API's own words about its failure, if there are any. */
function ownWords({ body }: ApiAnswer): string {
  try {
    const { code, message } = record(record(JSON.parse(body.toString("utf8"))).error);
    return message === undefined ? "" : `: ${text(message)} (${text(code)})`;
  } catch {
    return "";
  }
}
