/**
 * The placement group that keeps a server away from the hosts of others. Hetzner takes ten servers a group, so ten neighbouring addresses
 * share one: it follows from the node's own entry, and no node added or removed moves another.
 */
export function spreadGroup(address: string): string {
  const [a, b, c, last = ""] = address.split(".");
  return ["spread", a, b, c, Math.floor(Number(last) / 10) * 10].join("-");
}
