import { X509Certificate } from "node:crypto";
import { parse } from "yaml";

const day = 24 * 60 * 60 * 1000;

/** Whole days that a client's certificate (PEM in base64, as a talosconfig has it) is still good for; negative when it is over. */
export function daysLeft(certificate: string, now: number): number {
  return daysUntil(endOf(certificate), now);
}

/** Whole days until a moment; negative when it is past. */
export function daysUntil(moment: string, now: number): number {
  return Math.floor((Date.parse(moment) - now) / day);
}

/** When a certificate ends, as `2027-11-18T20:00:00.000Z`. */
export function endOf(certificate: string): string {
  const { validTo } = new X509Certificate(Buffer.from(certificate, "base64"));
  return new Date(validTo).toISOString();
}

/** When the client's certificate in a kubeconfig ends; undefined where it opens the cluster by something else. */
export function kubeconfigEnd(kubeconfig: string): string | undefined {
  const { users = [] } = parse(kubeconfig) as { readonly users?: readonly User[] };
  const certificate = users[0]?.user["client-certificate-data"];
  return certificate === undefined ? undefined : endOf(certificate);
}

interface User {
  readonly user: { readonly "client-certificate-data"?: string };
}
