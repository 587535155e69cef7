import { describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { patchesBetween } from "../../../../components/talos/config/patchesBetween.ts";

const config = (...documents: readonly object[]) =>
  documents.map((document) => stringify(document, { aliasDuplicateObjects: false })).join("---\n");
const main = (machine: object, cluster: object = {}) => ({ version: "v1alpha1", machine, cluster });
const link = (name: string, more: object = {}) => ({ apiVersion: "v1alpha1", kind: "LinkConfig", name, ...more });
const nothing = { places: [], kinds: [] };
const removed = { $patch: "delete" };

describe("the patches from one machine config to another (S7.2)", () => {
  test.each<[string, object, object, readonly object[]]>([
    ["a value that is added", {}, { sysctls: { a: "1" } }, [{ machine: { sysctls: { a: "1" } } }]],
    ["a value that changes", { a: { b: 1, c: 1 } }, { a: { b: 2, c: 1 } }, [{ machine: { a: { b: 2 } } }]],
    ["a value that is gone", { a: { b: 1, c: 1 } }, { a: { c: 1 } }, [{ machine: { a: { b: removed } } }]],
    ["a map that is gone", { a: { b: 1 }, c: 1 }, { c: 1 }, [{ machine: { a: removed } }]],
    ["a longer list, which Talos appends to", { a: [1, 2] }, { a: [1, 2, 3] }, [{ machine: { a: [3] } }]],
    [
      "another list, which has to be removed first",
      { a: [1, 2] },
      { a: [2] },
      [{ machine: { a: removed } }, { machine: { a: [2] } }],
    ],
    ["a map in place of a value", { a: 1 }, { a: { b: 1 } }, [{ machine: { a: { b: 1 } } }]],
    ["an empty map, which means nothing", { a: {} }, {}, []],
  ])("have %s", (_, from, to, patches) => {
    expect(patchesBetween(config(main(from)), config(main(to)), nothing)).toEqual(patches);
  });

  test("remove and add documents, and replace one that changes", () => {
    const from = config(main({}), link("eth0"), link("eth1", { mtu: 1 }));
    const to = config(main({}), link("eth1", { mtu: 2 }), link("lo"));
    expect(patchesBetween(from, to, nothing)).toEqual([
      { ...link("eth0"), ...removed },
      { ...link("eth1"), ...removed },
      link("eth1", { mtu: 2 }),
      link("lo"),
    ]);
  });

  test("leave alone what no patch may change, also inside of a map that is new or gone", () => {
    const from = config(main({ install: { disk: "/dev/sda" } }, { apiServer: { certSANs: ["a"], x: 1 } }));
    const to = config(main({ network: { hostname: "n", y: 1 } }), { apiVersion: "v1", kind: "HostnameConfig" });
    const untouched = {
      places: ["machine.install", "machine.network.hostname", "cluster.apiServer.certSANs"],
      kinds: ["HostnameConfig"],
    };
    expect(patchesBetween(from, to, untouched)).toEqual([
      { cluster: { apiServer: { x: removed } } },
      { machine: { network: { y: 1 } } },
    ]);
  });

  test("are none for configs that mean the same, and undefined if one cannot be read", () => {
    const hostDNS = (more: object) => main({ features: { hostDNS: { enabled: true, ...more } } });
    expect(patchesBetween(config(hostDNS({})), config(hostDNS({ resolveMemberNames: false })), nothing)).toEqual([]);
    expect(patchesBetween("a: [", config(main({})), nothing)).toBeUndefined();
  });
});
