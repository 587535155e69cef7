import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { vmHost } from "../../../../components/machines/proxmox/vmHost.ts";

const octet = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join("."));
const hosts = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 6 });

describe("the Proxmox host of a VM", () => {
  test("S4.1 is the one that its entry names", () => {
    expect(vmHost({ address: "10.0.0.11", host: "pve9" }, ["pve1", "pve9"])).toBe("pve9");
  });

  test("S4.1 differs for as many neighbours as there are hosts", () => {
    fc.assert(
      fc.property(hosts, octet, octet, (all, c, first) => {
        const neighbours = all.map((_, n) => `10.0.${c}.${Math.min(first, 255 - all.length) + n}`);
        expect(new Set(neighbours.map((own) => vmHost({ address: own }, all)))).toEqual(new Set(all));
      }),
    );
  });

  test("S4.2 is derived from the node's own address", () => {
    fc.assert(
      fc.property(hosts, address, (all, own) => {
        expect(all).toContain(vmHost({ address: own }, all));
        expect(vmHost({ address: own }, all)).toBe(vmHost({ address: own }, [...all]));
      }),
    );
  });
});
