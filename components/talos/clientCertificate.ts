import { X509Certificate } from "node:crypto";

const day = 24 * 60 * 60 * 1000;

/** Whole days that a client's certificate (PEM in base64, as a talosconfig has it) is still good for; negative when it is over. */
export function daysLeft(certificate: string, now: number): number {
  const { validTo } = new X509Certificate(Buffer.from(certificate, "base64"));
  return Math.floor((Date.parse(validTo) - now) / day);
}
