import { status } from "@grpc/grpc-js";
import { mask, redact } from "../talos/redact.ts";
import type { FailureCode } from "./catalogue.ts";

/** What an error of the Talos API is, for who decides whether to try again and for who reads of it. */
export interface ErrorClass {
  /** Whether trying again may help. */
  readonly passing: boolean;
  readonly code: FailureCode;
  /** The node's own words, or the network's, secrets masked. */
  readonly seen: string;
  /** What to do, where more is known than the catalogue can say. */
  readonly remedy?: string;
}

export interface ErrorContext {
  readonly call?: "applyConfiguration" | "bootstrap";
  /** The disks of the node, one text each. */
  readonly disks?: readonly string[];
}

/**
 * What an error of a call to a node is. Judged by its gRPC code; words only tell apart what has the same code, and where they decide nothing is
 * lost if they are others one day: the class is then the general one of the code. What a node *is* cannot be told from one error: that is probed.
 */
export function classify(error: unknown, context: ErrorContext = {}): ErrorClass {
  const { code, words } = read(error);
  const of = (passing: boolean, failure: FailureCode): ErrorClass => ({ passing, code: failure, seen: words });
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
      // 1.12 in maintenance answers so to a config that it cannot read; later versions do as they should.
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

/** Words of OpenSSL, Node and Go of the certificate that a node shows: one of ours, but of another name or another time, or none of ours. */
const otherName = /altnames?|certificate is (not )?valid for/i;
const otherTime = /certificate (has expired|is not yet valid)|CERT_(HAS_EXPIRED|NOT_YET_VALID)/i;
const foreignCertificate =
  /self[- ]signed certificate|unable to (verify|get)|certificate signed by unknown authority|x509:/i;
/** A node that wants another certificate, or one at all, says so by an alert that often does not get through: then the connection just breaks. */
const unwantedClient = /certificate required|unknown certificate authority|unknown ca|bad certificate/i;

function ofConnection(words: string): ErrorClass {
  if (otherName.test(words)) return { passing: false, code: "SLU-T111", seen: words };
  if (otherTime.test(words)) return { passing: true, code: "SLU-T112", seen: words };
  if (foreignCertificate.test(words)) return { passing: false, code: "SLU-T103", seen: words };
  if (unwantedClient.test(words)) return { passing: true, code: "SLU-T104", seen: words };
  if (/ECONNREFUSED|connection refused/i.test(words)) return { passing: true, code: "SLU-T102", seen: words };
  if (/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|no route to host/i.test(words)) {
    return { passing: true, code: "SLU-T101", seen: words };
  }
  return { passing: true, code: "SLU-T107", seen: words };
}

function ofConfig(words: string, { disks }: ErrorContext): ErrorClass {
  const seen = withoutSecrets(words);
  if (!/no disks matched|disk .*(does not exist|not found)/i.test(words)) {
    return { passing: false, code: "SLU-T201", seen };
  }
  const choice =
    disks === undefined ? {} : { remedy: `Set the install disk to one that the node has: ${disks.join("; ")}.` };
  return { passing: false, code: "SLU-T202", seen, ...choice };
}

const unknownKeys = "unknown keys found during decoding:\n";

/** The validator repeats what it does not know with all below it, and that may be a secret in the wrong place. */
function withoutSecrets(words: string): string {
  const [said = "", ...parts] = words.split(unknownKeys);
  return parts.length === 0 ? words : said + unknownKeys + (parts.length === 1 ? redact(parts[0] ?? "") : mask);
}

function isWorker(words: string): boolean {
  return /control ?plane node|etcd is not configured/i.test(words);
}

/** What sockets and name servers say. Any other text code is a fault of a program, or of what it was given, and stays. */
const networkCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EADDRNOTAVAIL"],
  ...["EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "ENOTFOUND", "EAI_AGAIN"],
]);

function read(error: unknown): { readonly code: unknown; readonly words: string } {
  const { name, message, code, details } = (error ?? {}) as Partial<Record<string, unknown>>;
  const words = String(details || message || error);
  // What a signal ends a call with; its `code` is of another kind.
  if (name === "TimeoutError") return { code: status.DEADLINE_EXCEEDED, words };
  if (name === "AbortError") return { code: status.CANCELLED, words };
  if (error instanceof DOMException) return { code: undefined, words };
  if (typeof code !== "string") return { code, words };
  const isTls = [otherName, otherTime, foreignCertificate, unwantedClient].some((form) => form.test(words));
  return { code: networkCodes.has(code) || isTls ? status.UNAVAILABLE : undefined, words: `${code}: ${words}` };
}
