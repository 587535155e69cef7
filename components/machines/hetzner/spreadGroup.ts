/**
 * The placement group that keeps servers on different hosts. Hetzner allows ten servers per group, so ten neighbouring addresses share one: the group follows
 * from the node's own entry, and adding or removing a node moves no other.
 */
export function spreadGroup(address: string): string {
  const [a, b, c, last = ""] = address.split(".");
  return ["spread", a, b, c, Math.floor(Number(last) / 10) * 10].join("-");
}
