import { describe, expect, test } from "@jest/globals";
import { linksPatches } from "../../../../components/talos/patches/links.ts";
import { documentVersions, machineInput, machineNode } from "../machineInput.ts";

const document = (kind: string, name: string, body: object = {}) => ({ apiVersion: "v1alpha1", kind, name, ...body });
const alias = document("LinkAliasConfig", "net0", {
  selector: { match: 'mac(link.permanent_addr) == "02:00:00:00:00:0b"' },
});
const fixed = { addresses: [{ address: "10.0.0.11/16" }], routes: [{ gateway: "10.0.0.1" }] };

function links(version: string, config: Readonly<Record<string, unknown>>, changes = {}) {
  const input = machineInput(version, config);
  return linksPatches(input, machineNode(input, "cp-1", changes));
}

describe.each(documentVersions)("Links (S2.1, S4.3) on Talos %s", (version) => {
  test("the NIC is found by its MAC and asks DHCP", () => {
    expect(links(version, {})).toStrictEqual([alias, document("LinkConfig", "net0"), document("DHCPv4Config", "net0")]);
  });

  test.each(["meta", "nocloud"])("with addresses by %s the node keeps its address without DHCP", (addressing) => {
    expect(links(version, { network: { addressing } })).toStrictEqual([alias, document("LinkConfig", "net0", fixed)]);
  });

  test("a node that tags by itself has its address on the VLAN", () => {
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

  test("a VLAN from the kernel command line goes on under its name", () => {
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

  test("a node on an access port does not know the VLAN", () => {
    expect(links(version, { network: { vlan: { tag: 20, mode: "access" } } })).toStrictEqual(links(version, {}));
  });

  test("on Hetzner both networks ask DHCP", () => {
    expect(links(version, { platform: "hetzner" })).toStrictEqual([
      document("DHCPv4Config", "eth0"),
      document("DHCPv4Config", "eth1"),
    ]);
  });

  test("nothing is said of a NIC that is not known, and Talos' default DHCP stays", () => {
    expect(links(version, { platform: "existing" }, { mac: undefined })).toStrictEqual([]);
  });

  test("an address or VLAN for a NIC that is not known is refused", () => {
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
