import { status } from "@grpc/grpc-js";
import type { FailureCode } from "../../errors/catalogue.ts";
import type { ClassifiedError } from "../../errors/sluiceError.ts";
import { mask, redact } from "../config/redact.ts";

export interface ErrorContext {
  readonly call?: "applyConfiguration" | "bootstrap";
  /** The disks of the node, one text each. */
  readonly disks?: readonly string[];
}

/**
 * Classifies an error of a call to a node. The gRPC code decides; words only distinguish errors with the same code, and if Talos ever changes them, the error
 * gets the general class of its code. A single error does not show what a node *is*: that is probed.
 */
export function classify(error: unknown, context: ErrorContext = {}): ClassifiedError {
  const { code, words } = read(error);
  const of = (retryable: boolean, failure: FailureCode): ClassifiedError => ({ retryable, code: failure, seen: words });
  switch (code) {
    case status.UNAVAILABLE:
      return ofConnection(words);
    case status.DEADLINE_EXCEEDED:
      return of(true, "SLU-T106");
    case status.CANCELLED:
    case status.ABORTED:
    case status.RESOURCE_EXHAUSTED:
    case status.INTERNAL:
      return of(true, "SLU-T107");
    case status.UNKNOWN:
      // Talos 1.12 in maintenance answers a config that it cannot read with this code; later versions use the right one.
      return /failed to parse config/.test(words) ? ofConfig(words, context) : of(true, "SLU-T107");
    case status.INVALID_ARGUMENT:
      return context.call === "applyConfiguration" ? ofConfig(words, context) : of(false, "SLU-T108");
    case status.ALREADY_EXISTS:
      return of(false, context.call === "bootstrap" ? "SLU-T203" : "SLU-T108");
    case status.FAILED_PRECONDITION:
      if (context.call !== "bootstrap") return of(true, "SLU-T107");
      return isWorker(words) ? of(false, "SLU-T205") : of(true, "SLU-T204");
    case status.UNIMPLEMENTED:
      return of(false, context.call === "bootstrap" && isWorker(words) ? "SLU-T205" : "SLU-T110");
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      return of(false, "SLU-T105");
    default:
      return of(false, "SLU-T108");
  }
}

/** Words of OpenSSL, Node and Go about a node's certificate: ours, but for another name or time, or not ours. */
const otherName = /altnames?|certificate is (not )?valid for/i;
const otherTime = /certificate (has expired|is not yet valid)|CERT_(HAS_EXPIRED|NOT_YET_VALID)/i;
const foreignCertificate =
  /self[- ]signed certificate|unable to (verify|get)|certificate signed by unknown authority|x509:/i;
/** A node that requires another certificate, or any, sends an alert that often does not arrive: then the connection just breaks. */
const unwantedClient = /certificate required|unknown certificate authority|unknown ca|bad certificate/i;

function ofConnection(words: string): ClassifiedError {
  if (otherName.test(words)) return { retryable: false, code: "SLU-T111", seen: words };
  if (otherTime.test(words)) return { retryable: true, code: "SLU-T112", seen: words };
  if (foreignCertificate.test(words)) return { retryable: false, code: "SLU-T103", seen: words };
  if (unwantedClient.test(words)) return { retryable: true, code: "SLU-T104", seen: words };
  if (/ECONNREFUSED|connection refused/i.test(words)) return { retryable: true, code: "SLU-T102", seen: words };
  if (/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|no route to host/i.test(words)) {
    return { retryable: true, code: "SLU-T101", seen: words };
  }
  return { retryable: true, code: "SLU-T107", seen: words };
}

function ofConfig(words: string, { disks }: ErrorContext): ClassifiedError {
  const seen = withoutSecrets(words);
  if (!/no disks matched|disk .*(does not exist|not found)/i.test(words)) {
    return { retryable: false, code: "SLU-T201", seen };
  }
  const choice =
    disks === undefined ? {} : { remedy: `Set the install disk to one that the node has: ${disks.join("; ")}.` };
  return { retryable: false, code: "SLU-T202", seen, ...choice };
}

const unknownKeys = "unknown keys found during decoding:\n";

/** The validator quotes unknown keys with everything below them, and that may be a secret in the wrong place. */
export function withoutSecrets(words: string): string {
  const [said = "", ...parts] = words.split(unknownKeys);
  return parts.length === 0 ? words : said + unknownKeys + (parts.length === 1 ? redact(parts[0] ?? "") : mask);
}

function isWorker(words: string): boolean {
  return /control ?plane node|etcd is not configured/i.test(words);
}

/** Errors of sockets and name resolution. Any other text code is a bug, or a fault in the input, and is kept. */
const networkCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EADDRNOTAVAIL"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENOTFOUND", "EAI_AGAIN"],
]);

function read(error: unknown): { readonly code: unknown; readonly words: string } {
  const { name, message, code, details } = (error ?? {}) as Partial<Record<string, unknown>>;
  const words = String(details || message || error);
  // The errors with which a signal ends a call; their `code` is of another kind.
  if (name === "TimeoutError") return { code: status.DEADLINE_EXCEEDED, words };
  if (name === "AbortError") return { code: status.CANCELLED, words };
  if (error instanceof DOMException) return { code: undefined, words };
  if (typeof code !== "string") return { code, words };
  const isTls = [otherName, otherTime, foreignCertificate, unwantedClient].some((form) => form.test(words));
  return { code: networkCodes.has(code) || isTls ? status.UNAVAILABLE : undefined, words: `${code}: ${words}` };
}
