// Single values that several parts of an environment are made of.
import { z } from "zod";

export const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "must be a DNS label: lower-case letters, digits and '-', 63 at most");
export const version = (example: string) =>
  z
    .string()
    .regex(/^v?1\.\d+\.\d+$/, `must be a full version such as ${example}`)
    .transform((text) => text.replace(/^v/, ""));
export const ipv4 = z.ipv4("must be an IPv4 address");
export const cidr = z.cidrv4("must be an IPv4 range such as 10.0.0.0/16");
/** Addresses one after the other. */
export const addressRange = z
  .string()
  .refine(
    (text) => z.cidrv4().safeParse(text).success || readsAsSpan(text),
    "must be addresses such as 10.0.0.50-10.0.0.99, or a range such as 10.0.0.64/27",
  );
export const mac = z
  .string()
  .regex(/^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$/, "must be a MAC address such as 02:00:00:00:00:0a")
  .transform((text) => text.toLowerCase());
export const udpUrl = z
  .string()
  .regex(/^udp:\/\/[^/:]+:\d{1,5}$/, "must be of the form udp://<host>:<port>")
  .refine((url) => Number(url.split(":").at(-1)) <= 65_535, "must name a port up to 65535");
/** Where an API is, and nothing else: who asks it is said elsewhere, where it is kept secret. */
export const origin = (schemes: readonly string[], message: string) =>
  z.string().refine((text) => isOrigin(text, schemes), message);
export const hostName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, "must be a host name or address without scheme, port or path");
export const featureGates = z.record(z.string(), z.boolean());
export const chartVersion = z
  .string()
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/, "must be a full chart version such as 1.18.8");

function isOrigin(text: string, schemes: readonly string[]): boolean {
  if (!schemes.some((scheme) => text.startsWith(`${scheme}://`)) || /\s/.test(text) || !URL.canParse(text))
    return false;
  const { username, password, pathname, search, hash } = new URL(text);
  return pathname === "/" && [username, password, search, hash].every((part) => part === "");
}

function readsAsSpan(text: string): boolean {
  const ends = text.split("-");
  return ends.length === 2 && ends.every((end) => z.ipv4().safeParse(end).success);
}
