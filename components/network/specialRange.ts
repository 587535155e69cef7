import { overlaps } from "./cidr.ts";

/** Ranges that no host can have addresses from. RFC 6890 */
const special: readonly (readonly [range: string, name: string])[] = [
  ["0.0.0.0/8", "this network"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
];

/** The special range that contains an address or a range; undefined for those that hosts can have. */
export function specialRange(addressOrRange: string): { readonly range: string; readonly name: string } | undefined {
  const found = special.find(([range]) => overlaps(range, addressOrRange));
  return found && { range: found[0], name: found[1] };
}
