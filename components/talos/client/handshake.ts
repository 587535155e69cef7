// Finds out which certificate a node shows, with TLS only: this loads no gRPC.
import { isIP } from "node:net";
import { connect } from "node:tls";
import { afterRunning, systemClock } from "../../waiting/clock.ts";
import { decodePem, standardKey } from "./pem.ts";
import type { TalosCredentials } from "./talosClient.ts";

/** The part of a certificate that is not valid. */
export type Validity = "name" | "time";

export type Handshake =
  | { readonly kind: "trusted" }
  /** Its certificate is not from our CA. It either speaks to us, or hangs up because it requires another certificate than ours. */
  | { readonly kind: "untrusted"; readonly isWelcome: boolean; readonly why: string }
  /** Its certificate is from our CA, but not valid for this name or at this time. */
  | { readonly kind: "invalid"; readonly of: Validity; readonly why: string }
  | { readonly kind: "refused" | "silent" | "broken"; readonly why: string };

/** OpenSSL's errors for a certificate that was issued by a CA with the same key. */
const invalid: Readonly<Record<string, Validity>> = {
  CERT_HAS_EXPIRED: "time",
  CERT_NOT_YET_VALID: "time",
  ERR_TLS_CERT_ALTNAME_INVALID: "name",
};

/** Which certificate a node shows and, if it is not from our CA, whether it accepts ours: an HTTP/2 server sends the first frame. */
export function shake(
  talosAddress: string,
  { ca, crt, key }: TalosCredentials,
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<Handshake> {
  return new Promise((done) => {
    const socket = connect({
      host: talosAddress,
      port: 50000,
      ca: decodePem(ca),
      cert: decodePem(crt),
      key: standardKey(key),
      rejectUnauthorized: false,
      ALPNProtocols: ["h2"],
      ...(isIP(talosAddress) === 0 && { servername: talosAddress }),
    });
    let untrusted: string | undefined;
    const end = (handshake: Handshake) => {
      signal?.removeEventListener("abort", cancel);
      endTimeout();
      socket.destroy();
      done(handshake);
    };
    const silent = { kind: "silent", why: `no answer within ${timeoutSeconds} s` } as const;
    const endTimeout = afterRunning(systemClock, timeoutSeconds * 1000, () => end(silent));
    const cancel = () => end({ kind: "broken", why: "the wait has ended" });
    signal?.addEventListener("abort", cancel, { once: true });
    const hungUp = (kind: "refused" | "broken", why: string) =>
      end(untrusted === undefined ? { kind, why } : { kind: "untrusted", isWelcome: false, why: untrusted });
    socket.on("error", ({ code, message }: NodeJS.ErrnoException) =>
      hungUp(code === "ECONNREFUSED" ? "refused" : "broken", message),
    );
    socket.on("end", () => hungUp("broken", "it closes the connection"));
    socket.on("secureConnect", () => {
      if (socket.authorized) return end({ kind: "trusted" });
      // Node returns the code, although it is typed as an error.
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
