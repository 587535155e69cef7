// Single values that sections of an environment consist of.
import { z } from "zod";
import { isHostName } from "./hostName.ts";

export const role = z.enum(["controlplane", "worker"]);
export const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "must be a DNS label: lower-case letters, digits and '-', 63 at most")
  .meta({ form: "DNS label" });
export const version = (example: string) =>
  z
    .string()
    .regex(/^v?1\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$/, `must be a full version such as ${example}`)
    .transform((text) => text.replace(/^v/, ""))
    .meta({ form: "full version", example });
export const contract = z
  .string("must be a minor version with a leading v, such as v1.13")
  .regex(/^v1\.\d+$/, "must be a minor version with a leading v, such as v1.13")
  .meta({ form: "minor version with `v`", example: "v1.13" });
export const ipv4 = z.ipv4("must be an IPv4 address").meta({ form: "IPv4 address" });
export const cidr = z.cidrv4("must be an IPv4 range such as 10.0.0.0/16").meta({ form: "IPv4 range" });
/** Consecutive addresses. */
export const addressRange = z
  .string()
  .refine(
    (text) => z.cidrv4().safeParse(text).success || readsAsSpan(text),
    "must be addresses such as 10.0.0.50-10.0.0.99, or a range such as 10.0.0.64/27",
  )
  .meta({ form: "`10.0.0.50-10.0.0.99` or `10.0.0.64/27`" });
export const mac = z
  .string()
  .regex(/^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$/, "must be a MAC address such as 02:00:00:00:00:0a")
  .transform((text) => text.toLowerCase())
  .meta({ form: "MAC address", example: "02:00:00:00:00:0a" });
export const uuid = z
  .guid("must be a UUID")
  .refine(
    (text) => !/^(0|f)\1*$/i.test(text.replaceAll("-", "")),
    "is the same for many machines and identifies none: remove it, or set the machine's own",
  )
  .transform((text) => text.toLowerCase())
  .meta({ form: "UUID" });
export const udpUrl = z
  .string()
  .regex(/^udp:\/\/[^/:]+:\d{1,5}$/, "must be of the form udp://<host>:<port>")
  .refine((url) => Number(url.split(":").at(-1)) <= 65_535, "must name a port up to 65535")
  .meta({ form: "`udp://<host>:<port>`" });
/** The URL of an API without anything else: credentials have their own keys, which are secret. */
export const origin = (schemes: readonly string[], form: string, remark = "") =>
  z
    .string()
    .refine((text) => isOrigin(text, schemes), `must be of the form ${form}${remark}`)
    .meta({ form: `\`${form}\`` });
export const hostName = z
  .string()
  .refine(
    isHostName,
    "must be a host name in lower case, or an IPv4 address, without scheme, port or path, such as k8s.example.org",
  )
  .meta({ form: "host name or address" });
export const featureGates = z
  .record(z.string(), z.boolean())
  .meta({ form: "map of feature gates to `true` or `false`" });
export const chartVersion = z
  .string()
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/, "must be a full chart version such as 1.18.8")
  .meta({ form: "chart version" });

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
