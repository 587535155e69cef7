// What a machine learns of its network from its own image, before it has a config: Talos' network platform config, under META key 10.

export interface PlatformNetwork {
  readonly hostname: string;
  /** With the length of the prefix: `10.0.0.11/16`. */
  readonly address: string;
  readonly gateway: string | undefined;
  readonly nameservers: readonly string[];
  /** Where the machine itself tags: the VLAN's interface bears the address. */
  readonly vlan: { readonly tag: number; readonly link: string } | undefined;
}

/** META key 10: where Talos on metal reads its network from. */
export const networkKey = 10;

/**
 * META holds names and no MACs, and names of NICs differ from one version of Proxmox and of udev to the next. With this kernel argument they
 * are counted instead, and the VM has a single one.
 */
export const countedNames = "net.ifnames=0";
const nic = "eth0";

/**
 * The config as JSON, which is YAML on a single line, as a schematic wants it. A link that is named here is asked of no DHCP server
 * (OperatorConfigController in Talos), so the NIC is named also where it has nothing of its own. All keys that Talos reads are written:
 * what it takes for left out differs from version to version.
 */
export function platformNetwork({ hostname, address, gateway, nameservers, vlan }: PlatformNetwork): string {
  const layer = "platform";
  const bearer = vlan?.link ?? nic;
  return JSON.stringify({
    addresses: [{ address, linkName: bearer, family: "inet4", scope: "global", flags: "permanent", layer }],
    links: [
      { name: nic, logical: false, up: true, mtu: 0, kind: "", type: "ether", layer },
      ...(vlan === undefined ? [] : [vlanLink(vlan)]),
    ],
    routes: gateway === undefined ? [] : [defaultRoute(gateway, bearer)],
    hostnames: [{ hostname, domainname: "", layer }],
    resolvers: nameservers.length === 0 ? [] : [{ dnsServers: nameservers, layer }],
    timeServers: [],
  });
}

function vlanLink({ tag, link }: NonNullable<PlatformNetwork["vlan"]>) {
  return {
    ...{ name: link, logical: true, up: true, mtu: 0, kind: "vlan", type: "ether", parentName: nic },
    ...{ vlan: { vlanID: tag, vlanProtocol: "802.1q" }, layer: "platform" },
  };
}

function defaultRoute(gateway: string, outLinkName: string) {
  return {
    ...{ family: "inet4", dst: "", src: "", gateway, outLinkName, table: "main", priority: 1024 },
    ...{ scope: "global", type: "unicast", flags: "", protocol: "static", layer: "platform" },
  };
}
