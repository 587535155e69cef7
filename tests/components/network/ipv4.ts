// IPv4 by hand, to check the library's arithmetic: an address is a number, a range is two of them.
import fc from "fast-check";

export const addressOf = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");

export const numberOf = (address: string): bigint =>
  address.split(".").reduce((value, part) => value * 256n + BigInt(part), 0n);

/** First and last address of a range, host bits or not. */
export function boundsOf(cidr: string): readonly [first: bigint, last: bigint] {
  const [address = "", prefix = ""] = cidr.split("/");
  const size = 1n << (32n - BigInt(prefix));
  const first = (numberOf(address) / size) * size;
  return [first, first + size - 1n];
}

const anyNumber = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n });

/** Half of the addresses are close together, because two random ones would hardly ever be equal. */
export const anyAddress = fc.oneof(anyNumber, fc.bigInt({ min: 0x0a000000n, max: 0x0a0003ffn })).map(addressOf);

export const anyCidr = fc
  .tuple(anyAddress, fc.oneof(fc.integer({ min: 0, max: 32 }), fc.integer({ min: 20, max: 32 })))
  .map(([address, prefix]) => `${address}/${prefix}`);
