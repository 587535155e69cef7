import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { spreadGroup } from "../../../../components/machines/hetzner/spreadGroup.ts";
import { anyAddress } from "../../network/ipv4.ts";

test.each([
  ["10.0.1.11", "spread-10-0-1-10"],
  ["10.0.1.19", "spread-10-0-1-10"],
  ["10.0.1.20", "spread-10-0-1-20"],
  ["10.0.1.9", "spread-10-0-1-0"],
  ["10.0.12.11", "spread-10-0-12-10"],
])("the address %s is in the group %s", (address, group) => {
  expect(spreadGroup(address)).toBe(group);
});

test("a group never gets more than ten servers", () => {
  fc.assert(
    fc.property(anyAddress, (address) => {
      const [a, b, c] = address.split(".");
      const all = Array.from({ length: 256 }, (_, last) => `${a}.${b}.${c}.${last}`);
      expect(all.filter((other) => spreadGroup(other) === spreadGroup(address)).length).toBeLessThanOrEqual(10);
    }),
  );
});
