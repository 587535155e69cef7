// The grammar of host names.
import { isIPv4 } from "node:net";

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A DNS name in lower case: labels of 63 at most, 253 in total, and none empty. */
export function isDnsName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => label.test(part));
}

/** A DNS name or an IPv4 address. Whatever ends in a number is resolved as an address, so it must be a valid one. */
export function isHostName(text: string): boolean {
  return /(^|\.)\d+$/.test(text) ? isIPv4(text) : isDnsName(text);
}
