// Finds out who answers at an address from the certificate it shows. Sends nothing but the handshake.
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { Clock } from "../../waiting/clock.ts";

export interface Place {
  readonly host: string;
  readonly port: number;
  /** PEM of the CA that issued our certificates. */
  readonly ca: Buffer | string | undefined;
}

export type Answer =
  | { readonly kind: "ours" }
  /** Our cluster, but the certificate is not valid for this address, or not at this time. */
  | { readonly kind: "invalid"; readonly why: string; readonly isName: boolean }
  /** Another machine or cluster. */
  | { readonly kind: "foreign"; readonly why: string }
  /** No answer. */
  | { readonly kind: "none"; readonly why: string };

/** Probes once; resolves also if nothing answers. */
export function whoAnswers(place: Place, timeoutMs: number, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const { host, port, ca } = place;
  return new Promise((done) => {
    const socket = connect({
      host,
      port,
      ca,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    });
    let isThere = false;
    const end = (answer: Answer) => {
      cancelTimeout();
      signal.removeEventListener("abort", cancel);
      socket.destroy();
      done(answer);
    };
    const cancel = () => end({ kind: "none", why: "the wait has ended" });
    const silence = () => (isThere ? "accepts the connection but sends nothing" : "does not answer");
    const cancelTimeout = clock.after(timeoutMs, () =>
      end({ kind: "none", why: `${silence()} within ${timeoutMs / 1000} s` }),
    );
    signal.addEventListener("abort", cancel, { once: true });
    socket.on("connect", () => {
      isThere = true;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => end(fromError(error)));
    socket.on("end", () => end({ kind: "none", why: "closes the connection" }));
    socket.on("secureConnect", () => end(fromCertificate(socket)));
  });
}

function fromError({ code = "", message }: NodeJS.ErrnoException): Answer {
  // A server with another protocol, so it is no API server.
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return { kind: "foreign", why: `answers, but not with TLS` };
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: "refuses the connection",
    ECONNRESET: "resets the connection",
    EHOSTUNREACH: "is not found in its network (no answer to ARP)",
    ENETUNREACH: "is in a network without a route from this host",
  };
  return { kind: "none", why: words[code] ?? message };
}

/** Errors of OpenSSL and Node for a certificate that our CA did issue. */
const invalid = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "ERR_TLS_CERT_ALTNAME_INVALID"]);

function fromCertificate(socket: TLSSocket): Answer {
  if (socket.authorized) return { kind: "ours" };
  // Node returns the code, although it is typed as an error.
  const why = String(socket.authorizationError);
  if (invalid.has(why)) return { kind: "invalid", why, isName: why === "ERR_TLS_CERT_ALTNAME_INVALID" };
  const { subject, issuer } = socket.getPeerCertificate();
  return {
    kind: "foreign",
    why: `shows a foreign certificate: subject ${named(subject)}, issuer ${named(issuer)}`,
  };
}

/** Names from a foreign certificate: shortened, and on one line. */
function named(name: object | undefined): string {
  const parts = Object.entries(name ?? {}).map(([key, value]) => `${key}=${value}`);
  const text = parts.join(", ").replaceAll(/[^\x20-\x7e]/g, "?");
  return text === "" ? "no name" : `'${text.length > 120 ? `${text.slice(0, 117)}...` : text}'`;
}
