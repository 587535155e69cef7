// The arithmetic of IPv4 ranges that the address plan and its rules need, on top of ip-address.
import { Address4 } from "ip-address";

/** The range written with its network address: `10.0.3.5/22` is `10.0.0.0/22`. */
export function networkOf(cidr: string): string {
  const range = new Address4(cidr);
  return `${range.startAddress().correctForm()}/${range.subnetMask}`;
}

export function prefixLength(cidr: string): number {
  return new Address4(cidr).subnetMask;
}

/** The first address of the range: it names the network and no host may have it. */
export function networkAddress(cidr: string): string {
  return new Address4(cidr).startAddress().correctForm();
}

/** The first address that a host may have. */
export function firstHost(cidr: string): string {
  return new Address4(cidr).startAddressExclusive().correctForm();
}

/** The last address of the range: it reaches every host and no host may have it. */
export function broadcastAddress(cidr: string): string {
  return new Address4(cidr).endAddress().correctForm();
}

/** Whether an address, or all of another range, is inside the range. */
export function contains(cidr: string, inner: string): boolean {
  return new Address4(inner).isInSubnet(new Address4(cidr));
}

/** Two ranges that share an address are always one inside the other, because both start at a multiple of their size. */
export function overlaps(one: string, other: string): boolean {
  return contains(one, other) || contains(other, one);
}
