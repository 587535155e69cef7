import { X509Certificate } from "node:crypto";
import { parse } from "yaml";

const dayMs = 24 * 60 * 60 * 1000;

/** Full days for which a client certificate (PEM in base64, as in a talosconfig) is still valid; negative if it has expired. */
export function daysLeft(certificate: string, now: number): number {
  return daysUntil(endOf(certificate), now);
}

/** Full days until a moment; negative if it has passed. */
export function daysUntil(moment: string, now: number): number {
  return Math.floor((Date.parse(moment) - now) / dayMs);
}

/** When a certificate expires, as `2027-11-18T20:00:00.000Z`. */
export function endOf(certificate: string): string {
  const { validTo } = new X509Certificate(Buffer.from(certificate, "base64"));
  return new Date(validTo).toISOString();
}

/** When the client certificate in a kubeconfig expires; undefined if the kubeconfig has other credentials. */
export function kubeconfigEnd(kubeconfig: string): string | undefined {
  const { users = [] } = parse(kubeconfig) as { readonly users?: readonly User[] };
  const certificate = users[0]?.user["client-certificate-data"];
  return certificate === undefined ? undefined : endOf(certificate);
}

interface User {
  readonly user: { readonly "client-certificate-data"?: string };
}
