import type { KubernetesError } from "../kubernetes/client.ts";
import type { ErrorClass } from "./classify.ts";

/** What Node and OpenSSL call a certificate that is none of the cluster's, or a client's that is not wanted. */
const certificate = /CERT|SELF_SIGNED|UNABLE_TO|ALERT/;

/** What an error of the Kubernetes API is, for who decides whether to try again and for who reads of it. */
export function classifyKubernetes({ status, code = "", message }: KubernetesError): ErrorClass {
  if (status === 401 || status === 403) return { passing: false, code: "SLU-K102", seen: message };
  if (status === undefined) {
    const isRefused = certificate.test(code);
    return { passing: !isRefused, code: isRefused ? "SLU-K102" : "SLU-K101", seen: message };
  }
  // Busy, or at odds with what somebody else does just then; an API server that starts or ends answers so, too.
  if (status === 409 || status === 429 || status >= 500) return { passing: true, code: "SLU-K101", seen: message };
  return { passing: false, code: "SLU-K108", seen: message };
}
