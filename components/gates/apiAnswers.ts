// What the Kubernetes API is asked before anybody relies on it.
import type { KubernetesClient, KubernetesError } from "../kubernetes/client.ts";

/** What was wrong with an answer. */
export interface ApiFault {
  readonly reason: string;
  readonly kind: "certificate" | "name" | "other";
}

/** Undefined where it says that it is ready. */
export async function readyFault(client: KubernetesClient, signal: AbortSignal): Promise<ApiFault | undefined> {
  try {
    await client.text("/readyz", { signal, patience: 2_000 });
    return undefined;
  } catch (error) {
    const { message: reason, code = "" } = error as KubernetesError;
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return { reason, kind: "name" };
    return { reason, kind: foreign.includes(code) ? "certificate" : "other" };
  }
}

/** Asks in the form that Helm and the engine's plugin ask in: the server keeps what it made for each form by itself. */
export async function publishesSchema(client: KubernetesClient, signal: AbortSignal): Promise<boolean> {
  const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  return client.text("/openapi/v2", { accept, signal, patience: 30_000 }).then(
    () => true,
    () => false, // why not, the other questions say
  );
}

/** OpenSSL's words for a certificate that our authority did not sign. */
const foreign = [
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_SIGNATURE_FAILURE",
];
