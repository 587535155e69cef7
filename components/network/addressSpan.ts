// Consecutive addresses, in the form `10.0.0.50-10.0.0.99` or as a range such as `10.0.0.64/27`.
import { Address4 } from "ip-address";

export interface AddressSpan {
  readonly first: string;
  readonly last: string;
}

export function addressSpan(text: string): AddressSpan {
  if (text.includes("/")) {
    const range = new Address4(text);
    return { first: range.startAddress().correctForm(), last: range.endAddress().correctForm() };
  }
  const [first = "", last = ""] = text.split("-");
  return { first, last };
}

/** Whether it has any address: one that ends before it starts has none. */
export function isInOrder({ first, last }: AddressSpan): boolean {
  return number(first) <= number(last);
}

export function spanHas({ first, last }: AddressSpan, address: string): boolean {
  return number(first) <= number(address) && number(address) <= number(last);
}

/** Whether two have an address in common. */
export function spansMeet(one: AddressSpan, other: AddressSpan): boolean {
  return spanHas(one, other.first) || spanHas(other, one.first);
}

function number(address: string): bigint {
  return new Address4(address).bigInt();
}
