// Who answers at an address, by the certificate that is shown there. Nothing is sent but the handshake.
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { Clock } from "./clock.ts";

export interface Place {
  readonly host: string;
  readonly port: number;
  /** PEM: who signed the certificates of ours. */
  readonly ca: Buffer | string | undefined;
}

export type Answer =
  | { readonly kind: "ours" }
  /** One of ours, but its certificate is not for this place, or not for now. */
  | { readonly kind: "invalid"; readonly why: string; readonly isName: boolean }
  /** Somebody else. */
  | { readonly kind: "foreign"; readonly why: string }
  /** Nobody, as far as can be seen. */
  | { readonly kind: "none"; readonly why: string };

/** Looks once; resolves also when nobody answers. */
export function whoAnswers(place: Place, patience: number, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const { host, port, ca } = place;
  return new Promise((done) => {
    const socket = connect({
      ...{ host, port, ca, rejectUnauthorized: false },
      ...(isIP(host) === 0 && { servername: host }),
    });
    let isThere = false;
    const end = (answer: Answer) => {
      takeBack();
      signal.removeEventListener("abort", cancel);
      socket.destroy();
      done(answer);
    };
    const cancel = () => end({ kind: "none", why: "nobody waits for it any more" });
    const silence = () => (isThere ? "takes the connection and says nothing" : "does not answer");
    const takeBack = clock.after(patience, () =>
      end({ kind: "none", why: `${silence()} within ${patience / 1000} s` }),
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
  // What speaks another protocol is somebody, but no API server.
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") return { kind: "foreign", why: `answers, but not with TLS` };
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: "refuses the connection",
    ECONNRESET: "breaks the connection off",
    EHOSTUNREACH: "is not to be found in its network (nobody answers its ARP)",
    ENETUNREACH: "is in a network that nothing leads to from here",
  };
  return { kind: "none", why: words[code] ?? message };
}

/** Verdicts of OpenSSL, and of Node, on a certificate that our authority did sign. */
const invalid = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID", "ERR_TLS_CERT_ALTNAME_INVALID"]);

function fromCertificate(socket: TLSSocket): Answer {
  if (socket.authorized) return { kind: "ours" };
  // Node hands the code out, though it is typed as an error.
  const why = String(socket.authorizationError);
  if (invalid.has(why)) return { kind: "invalid", why, isName: why === "ERR_TLS_CERT_ALTNAME_INVALID" };
  const { subject, issuer } = socket.getPeerCertificate();
  return {
    kind: "foreign",
    why: `shows a certificate of others: it is of ${named(subject)}, and ${named(issuer)} signed it`,
  };
}

/** A stranger's own words: short, and on one line. */
function named(name: object | undefined): string {
  const parts = Object.entries(name ?? {}).map(([key, value]) => `${key}=${value}`);
  const text = parts.join(", ").replaceAll(/[^\x20-\x7e]/g, "?");
  return text === "" ? "nobody by name" : `'${text.length > 120 ? `${text.slice(0, 117)}...` : text}'`;
}
