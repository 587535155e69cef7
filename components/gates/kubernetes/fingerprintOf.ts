import { X509Certificate } from "node:crypto";

/** SHA-256 of a PEM certificate. */
export function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}
