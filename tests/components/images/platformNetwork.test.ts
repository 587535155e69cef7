import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { parse } from "yaml";
import { installerSchematic, type NodeSchematicArgs, nodeSchematic } from "../../../components/images/nodeSchematic.ts";
import { schematicYaml } from "../../../components/images/schematic.ts";
import { existingPlatform } from "../../../components/machines/existing/existingPlatform.ts";
import { hetznerPlatform } from "../../../components/machines/hetzner/hetznerPlatform.ts";
import { proxmoxPlatform } from "../../../components/machines/proxmox/proxmoxPlatform.ts";

const home: NodeSchematicArgs = {
  platform: proxmoxPlatform,
  network: { nodeCidr: "10.0.0.0/16", gateway: "10.0.0.1", nameservers: ["10.0.0.1"], addressing: "meta" },
  image: { extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: ["quiet"] },
};
const node = { name: "cp-1", address: "10.0.0.11" };
const layer = "platform";

function networkOf(args: NodeSchematicArgs, of = node) {
  const [entry, ...others] = nodeSchematic(args, of).meta ?? [];
  expect(others).toEqual([]);
  return parse(entry?.value ?? "");
}

describe("the image of a node", () => {
  test("S4.3 has the node's network under META key 10, for the only NIC, which a kernel argument names eth0", () => {
    const { meta, ...rest } = nodeSchematic(home, node);
    expect(rest).toEqual({ extensions: ["siderolabs/qemu-guest-agent"], kernelArgs: ["quiet", "net.ifnames=0"] });
    expect(meta?.map(({ key }) => key)).toEqual([10]);
    expect(networkOf(home)).toEqual({
      addresses: [
        { address: "10.0.0.11/16", linkName: "eth0", family: "inet4", scope: "global", flags: "permanent", layer },
      ],
      links: [{ name: "eth0", logical: false, up: true, mtu: 0, kind: "", type: "ether", layer }],
      routes: [
        {
          ...{
            family: "inet4",
            dst: "",
            src: "",
            gateway: "10.0.0.1",
            outLinkName: "eth0",
            table: "main",
            priority: 1024,
          },
          ...{ scope: "global", type: "unicast", flags: "", protocol: "static", layer },
        },
      ],
      hostnames: [{ hostname: "cp-1", domainname: "", layer }],
      resolvers: [{ dnsServers: ["10.0.0.1"], layer }],
      timeServers: [],
    });
  });

  test("S4.3 names a NIC without an address for a VLAN that the node tags, because Talos would use DHCP on it", () => {
    const vlan = { tag: 20, mode: "trunk" } as const;
    const { links, addresses, routes } = networkOf({ ...home, network: { ...home.network, vlan } });
    expect(links).toEqual([
      { name: "eth0", logical: false, up: true, mtu: 0, kind: "", type: "ether", layer },
      {
        ...{ name: "net0.20", logical: true, up: true, mtu: 0, kind: "vlan", type: "ether", parentName: "eth0" },
        ...{ vlan: { vlanID: 20, vlanProtocol: "802.1q" }, layer },
      },
    ]);
    expect([addresses[0].linkName, routes[0].outLinkName]).toEqual(["net0.20", "net0.20"]);
  });

  test("S4.3 has no VLAN for a port in mode access", () => {
    const vlan = { tag: 20, mode: "access" } as const;
    expect(networkOf({ ...home, network: { ...home.network, vlan } })).toEqual(networkOf(home));
  });

  test("S2.3 has each kernel argument once", () => {
    const image = { extensions: [], kernelArgs: ["net.ifnames=0"] };
    expect(nodeSchematic({ ...home, image }, node).kernelArgs).toEqual(["net.ifnames=0"]);
  });

  test.each([
    { platform: proxmoxPlatform, addressing: "nocloud" },
    { platform: existingPlatform, addressing: "meta" },
    { platform: hetznerPlatform, addressing: "dhcp" },
  ] as const)(
    "S4.3 is the same for every node if it has no address: $platform.name, $addressing",
    ({ platform, addressing }) => {
      expect(nodeSchematic({ ...home, platform, network: { ...home.network, addressing } }, node)).toEqual(home.image);
    },
  );

  test("S4.3 is installed by the installer of all nodes, which is the same with DHCP, so that DHCP can become META", () => {
    const kernelArgs = ["quiet", "net.ifnames=0"];
    const dhcp: NodeSchematicArgs = { ...home, network: { ...home.network, addressing: "dhcp" } };
    expect(installerSchematic(home)).toEqual({ ...home.image, kernelArgs });
    expect(installerSchematic(dhcp)).toEqual(installerSchematic(home));
    expect(nodeSchematic(dhcp, node)).toEqual(installerSchematic(home));
  });

  test("S4.2 S4.3 differs for every node, and is derived from its own entry alone", () => {
    const octet = fc.integer({ min: 1, max: 254 });
    const nodes = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), address: fc.tuple(octet, octet) });
    fc.assert(
      fc.property(nodes, nodes, (one, other) => {
        const yaml = ({ name, address: [c, d] }: typeof one) =>
          schematicYaml(nodeSchematic(home, { name, address: `10.0.${c}.${d}` }));
        const isSame = one.name === other.name && String(one.address) === String(other.address);
        expect(yaml(one) === yaml(other)).toBe(isSame);
        const { customization } = parse(yaml(one));
        const { addresses, hostnames } = JSON.parse(customization.meta[0].value);
        expect(addresses[0].address).toBe(`10.0.${one.address.join(".")}/16`);
        expect(hostnames[0].hostname).toBe(one.name);
      }),
    );
  });
});
