import { isIP } from "node:net";
import { connect } from "node:tls";
import { status } from "@grpc/grpc-js";
import { codeOf } from "./connection.ts";
import { resources } from "./resources.ts";
import { textOf } from "./specs.ts";
import { decodePem, standardKey, TalosClient, type TalosCredentials } from "./talosClient.ts";

/** What a node is to us, by one probe (S0.2). */
export type NodeState =
  /** Takes a config from anybody. */
  | { readonly kind: "maintenance"; readonly version: string }
  /**
   * Answers anybody, but takes nothing: it is on its way into maintenance, or has its config and waits for a certificate of its cluster, which a
   * worker gets from a control plane (1.13 and later; earlier ones do not listen meanwhile).
   */
  | { readonly kind: "settling"; readonly version: string; readonly stage: string }
  /** Mutual TLS with our PKI answers. */
  | { readonly kind: "ours"; readonly version: string }
  /** Answers, with another PKI, and takes nothing from us: never overwritten. */
  | { readonly kind: "foreign"; readonly why: string }
  /** Of our PKI, but its certificate is for other names than it is reached by, or for another time. */
  | { readonly kind: "invalid"; readonly of: Validity; readonly why: string }
  | {
      readonly kind: "unreachable";
      readonly why: string;
      /** The machine is there, but nothing listens: it boots, installs or reboots. */
      readonly refused: boolean;
    };

/** What a certificate is valid for. */
export type Validity = "name" | "time";

/** What one look saw: the certificate that the node shows, then whether it answers a call made in the way that goes with it. */
export interface Look {
  readonly handshake:
    | { readonly kind: "trusted" }
    /** Whoever it is, our CA did not make its certificate. It greets us, or hangs up because it wants another certificate than ours. */
    | { readonly kind: "untrusted"; readonly isWelcome: boolean; readonly why: string }
    /** Our CA made it, but it is not valid here or now. */
    | { readonly kind: "invalid"; readonly of: Validity; readonly why: string }
    | { readonly kind: "refused" | "silent" | "broken"; readonly why: string };
  readonly answer?: Answer;
}

type Answer =
  | { readonly kind: "answered"; readonly version: string; readonly stage: string }
  | { readonly kind: "failed"; readonly why: string };

/**
 * What a node is by what was seen of it, oldest look first. Which certificate a node shows is certain, and so is that a call was answered. That one
 * hangs up may just be a node that goes down: it is foreign only when two looks in a row saw the same. That a call fails says nothing of it.
 */
export function judgeNode(looks: readonly Look[]): NodeState {
  const last = looks.at(-1);
  if (last === undefined) return { kind: "unreachable", why: "it was not looked at", refused: false };
  const { handshake, answer } = last;
  if (handshake.kind === "trusted" || handshake.kind === "untrusted") {
    if (answer?.kind === "answered") {
      const { version, stage } = answer;
      if (handshake.kind === "trusted") return { kind: "ours", version };
      return stage === "maintenance" ? { kind: "maintenance", version } : { kind: "settling", version, stage };
    }
    const why = answer?.why ?? "it hangs up";
    if (handshake.kind === "untrusted" && looks.length > 1 && looks.slice(-2).every(seemsForeign)) {
      return {
        kind: "foreign",
        why: `its certificate is not of our PKI (${handshake.why}) and it wants another one than ours`,
      };
    }
    return { kind: "unreachable", why, refused: false };
  }
  if (handshake.kind === "invalid") return handshake;
  return { kind: "unreachable", why: handshake.why, refused: handshake.kind === "refused" };
}

/** A certificate of others, and it hangs up on who comes without one of theirs. */
function seemsForeign({ handshake }: Look): boolean {
  return handshake.kind === "untrusted" && !handshake.isWelcome;
}

export interface ProbeOptions {
  readonly signal?: AbortSignal;
  /** Seconds for each step. */
  readonly patience?: number;
}

/** Finds out what a node is. Never rejects but by its signal. */
export async function probe(
  endpoint: string,
  credentials: TalosCredentials,
  options: ProbeOptions = {},
): Promise<NodeState> {
  const looks = [await look(endpoint, credentials, options)];
  if (looks.every(seemsForeign)) looks.push(await look(endpoint, credentials, options));
  return judgeNode(looks);
}

/** The client that a node in this state answers to. */
export function clientFor(state: NodeState, endpoint: string, credentials: TalosCredentials): TalosClient | undefined {
  if (state.kind === "ours") return TalosClient.configured(endpoint, credentials);
  const answersAnybody = state.kind === "maintenance" || state.kind === "settling";
  return answersAnybody ? TalosClient.maintenance(endpoint) : undefined;
}

async function look(endpoint: string, credentials: TalosCredentials, options: ProbeOptions): Promise<Look> {
  const { signal, patience = 3 } = options;
  signal?.throwIfAborted();
  const handshake = await shake(endpoint, credentials, patience, signal);
  signal?.throwIfAborted();
  if (handshake.kind !== "trusted" && !(handshake.kind === "untrusted" && handshake.isWelcome)) return { handshake };
  const client =
    handshake.kind === "trusted" ? TalosClient.configured(endpoint, credentials) : TalosClient.maintenance(endpoint);
  try {
    const call = { deadline: patience, ...(signal && { signal }) };
    // Resources, for 1.12 does not serve the call Version in maintenance.
    const [version, status] = await Promise.all([
      client.get(resources.version, "version", call),
      client.get(resources.machineStatus, "machine", call),
    ]);
    const told = { version: textOf(version?.spec, "version"), stage: textOf(status?.spec, "stage") };
    return { handshake, answer: { kind: "answered", ...told } };
  } catch (error) {
    signal?.throwIfAborted();
    return { handshake, answer: notAnswered(error) };
  } finally {
    client.close();
  }
}

/** Whether an error comes from the connection, and is no answer of a node. */
export function isUnanswered(error: unknown): boolean {
  const code = codeOf(error);
  return [undefined, status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED].includes(code);
}

function notAnswered(error: unknown): Answer {
  const why = error instanceof Error ? ("details" in error ? String(error.details) : error.message) : String(error);
  return isUnanswered(error) ? { kind: "failed", why } : { kind: "answered", version: "", stage: "" };
}

/** Verdicts of OpenSSL on a certificate that a CA of the same key did make. */
const invalid: Readonly<Record<string, Validity>> = {
  CERT_HAS_EXPIRED: "time",
  CERT_NOT_YET_VALID: "time",
  ERR_TLS_CERT_ALTNAME_INVALID: "name",
};

/** Which certificate a node shows and, where it is one of others, what it thinks of ours: a server of HTTP/2 speaks first. */
function shake(
  endpoint: string,
  { ca, crt, key }: TalosCredentials,
  patience: number,
  signal?: AbortSignal,
): Promise<Look["handshake"]> {
  return new Promise((done) => {
    const socket = connect({
      host: endpoint,
      port: 50000,
      ca: decodePem(ca),
      cert: decodePem(crt),
      key: standardKey(key),
      rejectUnauthorized: false,
      ALPNProtocols: ["h2"],
      ...(isIP(endpoint) === 0 && { servername: endpoint }),
    });
    let untrusted: string | undefined;
    const end = (handshake: Look["handshake"]) => {
      signal?.removeEventListener("abort", cancel);
      socket.destroy();
      done(handshake);
    };
    const cancel = () => end({ kind: "broken", why: "nobody waits for it any more" });
    signal?.addEventListener("abort", cancel, { once: true });
    socket.setTimeout(patience * 1000, () => end({ kind: "silent", why: `no answer within ${patience} s` }));
    socket.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      if (untrusted !== undefined) return end({ kind: "untrusted", isWelcome: false, why: untrusted });
      end({ kind: code === "ECONNREFUSED" ? "refused" : "broken", why: message });
    });
    socket.on("end", () => {
      if (untrusted !== undefined) return end({ kind: "untrusted", isWelcome: false, why: untrusted });
      end({ kind: "broken", why: "it closes the connection" });
    });
    socket.on("secureConnect", () => {
      if (socket.authorized) return end({ kind: "trusted" });
      // Node hands the code out, though it is typed as an error.
      const why = String(socket.authorizationError);
      const of = invalid[why];
      if (of === undefined) {
        untrusted = why;
        socket.once("data", () => end({ kind: "untrusted", isWelcome: true, why }));
        return;
      }
      const { subjectaltname = "no name", valid_from, valid_to } = socket.getPeerCertificate();
      const validity = of === "name" ? subjectaltname : `from ${valid_from} to ${valid_to}`;
      end({ kind: "invalid", of, why: `its certificate is valid for ${validity}` });
    });
  });
}
