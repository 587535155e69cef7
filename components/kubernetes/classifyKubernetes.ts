import type { ClassifiedError } from "../errors/sluiceError.ts";
import type { KubernetesError } from "./client.ts";

/** Codes of Node and OpenSSL for a server certificate from another CA, or for a rejected client certificate. */
const certificate = /CERT|SELF_SIGNED|UNABLE_TO|ALERT/;

/** Classifies an error of the Kubernetes API: whether a retry makes sense, and what the user reads. */
export function classifyKubernetes({ status, code = "", message }: KubernetesError): ClassifiedError {
  if (status === 401 || status === 403) return { retryable: false, code: "SLU-K102", seen: message };
  if (status === undefined) {
    const isRefused = certificate.test(code);
    return { retryable: !isRefused, code: isRefused ? "SLU-K102" : "SLU-K101", seen: message };
  }
  // Busy, or in conflict with another change; an API server that starts or stops answers in the same way.
  if (status === 409 || status === 429 || status >= 500) return { retryable: true, code: "SLU-K101", seen: message };
  return { retryable: false, code: "SLU-K108", seen: message };
}
