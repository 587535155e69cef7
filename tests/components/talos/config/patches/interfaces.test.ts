import { describe, expect, test } from "@jest/globals";
import { interfacesPatches } from "../../../../../components/talos/config/patches/interfaces.ts";
import { documentVersions, machineInput, machineNode } from "../../machineInput.ts";

const deviceSelector = { permanentAddr: "02:00:00:00:00:0b" };
const fixed = { addresses: ["10.0.0.11/16"], routes: [{ network: "0.0.0.0/0", gateway: "10.0.0.1" }] };

function interfaces(config: Readonly<Record<string, unknown>>, changes = {}, version = "1.11.6", name = "cp-1") {
  const input = machineInput(version, config);
  return interfacesPatches(input, machineNode(input, name, changes));
}

function patch(nic: object) {
  return [{ machine: { network: { interfaces: [nic] } } }];
}

describe("the interfaces (S2.1, S4.3) on Talos 1.11", () => {
  test("match the NIC by its MAC and use DHCP", () => {
    expect(interfaces({})).toStrictEqual(patch({ deviceSelector, dhcp: true }));
  });

  test("have the node's static address without DHCP", () => {
    expect(interfaces({ network: { addressing: "nocloud" } })).toStrictEqual(patch({ deviceSelector, ...fixed }));
  });

  test("have the VIP on a control plane, and not on a worker (S4.4)", () => {
    const config = { network: { vip: "10.0.0.20" } };
    expect(interfaces(config)).toStrictEqual(patch({ deviceSelector, dhcp: true, vip: { ip: "10.0.0.20" } }));
    expect(interfaces(config, {}, "1.11.6", "w-1")).toStrictEqual(
      patch({ deviceSelector: { permanentAddr: "02:00:00:00:00:15" }, dhcp: true }),
    );
  });

  test("have everything on the VLAN if the node tags", () => {
    const network = { vlan: { tag: 20, mode: "trunk" }, addressing: "meta", vip: "10.0.0.20" };
    expect(interfaces({ network })).toStrictEqual(
      patch({ deviceSelector, vlans: [{ vlanId: 20, ...fixed, vip: { ip: "10.0.0.20" } }] }),
    );
  });

  test("are left to the default DHCP at Hetzner and for unknown NICs", () => {
    expect(interfaces({ platform: "hetzner" })).toStrictEqual([]);
    expect(interfaces({ platform: "existing" }, { mac: undefined })).toStrictEqual([]);
  });

  test("are refused with an address for an unknown NIC", () => {
    expect(() => interfaces({ platform: "existing", network: { addressing: "meta" } }, { mac: undefined })).toThrow(
      "node 'cp-1' has no 'mac', by which its NIC is found",
    );
  });
});

test.each(documentVersions)("Talos %s has documents instead of interfaces", (version) => {
  expect(interfaces({ network: { addressing: "meta", vip: "10.0.0.20" } }, {}, version)).toStrictEqual([]);
});
