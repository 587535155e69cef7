import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  broadcastAddress,
  contains,
  firstHost,
  networkAddress,
  networkOf,
  overlaps,
  prefixLength,
} from "../../../components/network/cidr.ts";
import { addressOf, anyAddress, anyCidr, boundsOf, numberOf } from "./ipv4.ts";

test("S2.4 a /22 written with a host's address has its network, first host and broadcast address", () => {
  expect(networkOf("192.168.21.7/22")).toBe("192.168.20.0/22");
  expect(networkAddress("192.168.21.7/22")).toBe("192.168.20.0");
  expect(firstHost("192.168.21.7/22")).toBe("192.168.20.1");
  expect(broadcastAddress("192.168.21.7/22")).toBe("192.168.23.255");
  expect(prefixLength("192.168.21.7/22")).toBe(22);
});

test("S2.4 any two ranges overlap exactly when they share a number", () => {
  fc.assert(
    fc.property(anyCidr, anyCidr, (one, other) => {
      const [firstOne, lastOne] = boundsOf(one);
      const [firstOther, lastOther] = boundsOf(other);
      expect(overlaps(one, other)).toBe(firstOne <= lastOther && firstOther <= lastOne);
    }),
    { numRuns: 500 },
  );
});

test("S2.4 overlapping does not depend on the order of two ranges", () => {
  fc.assert(fc.property(anyCidr, anyCidr, (one, other) => overlaps(one, other) === overlaps(other, one)));
});

test("S2.4 an address is in a range exactly when its number is between the range's first and last", () => {
  fc.assert(
    fc.property(anyCidr, anyAddress, (cidr, address) => {
      const [first, last] = boundsOf(cidr);
      expect(contains(cidr, address)).toBe(first <= numberOf(address) && numberOf(address) <= last);
    }),
    { numRuns: 500 },
  );
});

test("S2.4 a range is inside another exactly when both its ends are", () => {
  fc.assert(
    fc.property(anyCidr, anyCidr, (outer, inner) => {
      const [first, last] = boundsOf(outer);
      const [firstInner, lastInner] = boundsOf(inner);
      expect(contains(outer, inner)).toBe(first <= firstInner && lastInner <= last);
    }),
  );
});

test("S2.4 the network of a range has the same addresses, and is its own network", () => {
  fc.assert(
    fc.property(anyCidr, (cidr) => {
      expect(boundsOf(networkOf(cidr))).toEqual(boundsOf(cidr));
      expect(networkOf(networkOf(cidr))).toBe(networkOf(cidr));
    }),
  );
});

test("S2.4 network address, first host and broadcast address are the first, second and last number of a range", () => {
  const withHosts = anyCidr.filter((cidr) => prefixLength(cidr) <= 30);
  fc.assert(
    fc.property(withHosts, (cidr) => {
      const [first, last] = boundsOf(cidr);
      expect(networkAddress(cidr)).toBe(addressOf(first));
      expect(firstHost(cidr)).toBe(addressOf(first + 1n));
      expect(broadcastAddress(cidr)).toBe(addressOf(last));
    }),
  );
});
