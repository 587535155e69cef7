// Probes the Kubernetes API before anything relies on it.
import type { KubernetesClient, KubernetesError } from "../../kubernetes/client.ts";
import type { Clock } from "../../waiting/clock.ts";

/** What was wrong with an answer. */
export interface ApiFault {
  readonly reason: string;
  readonly kind: "certificate" | "name" | "other";
}

/** As all calls: a busy API server takes seconds, and nothing waits for one answer before it asks again. */
const answerMs = 5_000;

/** Undefined where it says that it is ready. */
export async function readyFault(
  client: KubernetesClient,
  signal: AbortSignal,
  isShared: boolean,
): Promise<ApiFault | undefined> {
  try {
    await client.text("/readyz", { signal, deadlineMs: answerMs, isShared });
    return undefined;
  } catch (error) {
    const { message: reason, code = "" } = error as KubernetesError;
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return { reason, kind: "name" };
    return { reason, kind: foreign.includes(code) ? "certificate" : "other" };
  }
}

/**
 * Seconds that the schema took; undefined if it was not published. Requests the format that Helm and the engine's plugin request, because the server caches
 * each format separately.
 */
export async function schemaSeconds(
  client: KubernetesClient,
  signal: AbortSignal,
  clock: Clock,
): Promise<number | undefined> {
  const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const began = clock.now();
  // Longer than the limit: a slow answer makes the next one faster, a cancelled one does not.
  return client.text("/openapi/v2", { accept, signal, deadlineMs: 30_000 }).then(
    () => (clock.now() - began) / 1000,
    () => undefined, // the other probes show why
  );
}

/** OpenSSL's error codes for a certificate that our CA did not issue. */
const foreign = [
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_SIGNATURE_FAILURE",
];
