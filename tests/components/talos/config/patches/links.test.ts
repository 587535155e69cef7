import { describe, expect, test } from "@jest/globals";
import { linksPatches } from "../../../../../components/talos/config/patches/links.ts";
import { documentVersions, machineInput, machineNode } from "../../machineInput.ts";

const document = (kind: string, name: string, body: object = {}) => ({ apiVersion: "v1alpha1", kind, name, ...body });
const alias = document("LinkAliasConfig", "net0", {
  selector: { match: 'mac(link.permanent_addr) == "02:00:00:00:00:0b"' },
});
const fixed = { addresses: [{ address: "10.0.0.11/16" }], routes: [{ gateway: "10.0.0.1" }] };

function links(version: string, config: Readonly<Record<string, unknown>>, changes = {}) {
  const input = machineInput(version, config);
  return linksPatches(input, machineNode(input, "cp-1", changes));
}

describe.each(documentVersions)("the links (S2.1, S4.3) on Talos %s", (version) => {
  test("match the NIC by its MAC and use DHCP", () => {
    expect(links(version, {})).toStrictEqual([alias, document("LinkConfig", "net0"), document("DHCPv4Config", "net0")]);
  });

  test.each(["meta", "nocloud"])("have the node's address without DHCP with addressing %s", (addressing) => {
    expect(links(version, { network: { addressing } })).toStrictEqual([alias, document("LinkConfig", "net0", fixed)]);
  });

  test("have the address on the VLAN if the node tags", () => {
    const vlan = { tag: 20, mode: "trunk" };
    expect(links(version, { network: { vlan, addressing: "meta" } })).toStrictEqual([
      alias,
      document("LinkConfig", "net0"),
      document("VLANConfig", "net0.20", { vlanID: 20, parent: "net0", ...fixed }),
    ]);
    expect(links(version, { network: { vlan } })).toStrictEqual([
      alias,
      document("LinkConfig", "net0"),
      document("VLANConfig", "net0.20", { vlanID: 20, parent: "net0" }),
      document("DHCPv4Config", "net0.20"),
    ]);
  });

  test("keep the name of a VLAN from the kernel command line", () => {
    const network = { vlan: { tag: 20, mode: "trunk" } };
    expect(
      links(version, { network, image: { kernelArgs: ["vlan=ens18.20:ens18", "ip=ens18.20:dhcp"] } }),
    ).toStrictEqual([
      alias,
      document("LinkConfig", "net0"),
      document("VLANConfig", "ens18.20", { vlanID: 20, parent: "net0" }),
      document("DHCPv4Config", "ens18.20"),
    ]);
  });

  test("have no VLAN for a node on an access port", () => {
    expect(links(version, { network: { vlan: { tag: 20, mode: "access" } } })).toStrictEqual(links(version, {}));
  });

  test("use DHCP in both networks at Hetzner", () => {
    expect(links(version, { platform: "hetzner" })).toStrictEqual([
      document("DHCPv4Config", "eth0"),
      document("DHCPv4Config", "eth1"),
    ]);
  });

  test("are absent for an unknown NIC, so that Talos' default DHCP stays", () => {
    expect(links(version, { platform: "existing" }, { mac: undefined })).toStrictEqual([]);
  });

  test("are refused with an address or VLAN for an unknown NIC", () => {
    const existing = (network: object) => () => links(version, { platform: "existing", network }, { mac: undefined });
    expect(existing({ addressing: "meta" })).toThrow(
      "node 'cp-1' has no 'mac', by which its NIC is found: it is needed for network.addressing 'meta'",
    );
    expect(existing({ vlan: { tag: 20, mode: "trunk" } })).toThrow("it is needed for network.vlan");
  });
});

test("Talos 1.11 has no link documents", () => {
  expect(links("1.11.6", { network: { addressing: "meta" } })).toStrictEqual([]);
});
