// The network configuration that a machine reads from its own image before it has a config: Talos' network platform config, under META key 10.

export interface PlatformNetwork {
  readonly hostname: string;
  /** With prefix length: `10.0.0.11/16`. */
  readonly address: string;
  readonly gateway: string | undefined;
  readonly nameservers: readonly string[];
  /** If the machine itself tags its frames: the VLAN's interface has the address. */
  readonly vlan: { readonly tag: number; readonly link: string } | undefined;
}

/** The META key from which Talos on metal reads its network configuration. */
export const networkKey = 10;

/**
 * META contains interface names and no MACs, and names of NICs differ between versions of Proxmox and udev. With this kernel argument NICs are numbered
 * instead, and the VM has only one.
 */
export const countedNames = "net.ifnames=0";
const nic = "eth0";

/**
 * The config as JSON, which is YAML on one line, as a schematic requires. Talos runs no DHCP on a link that is named here (OperatorConfigController), so the
 * NIC is named even if it has no settings. All keys that Talos reads are written, because their defaults differ between versions.
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
    name: link,
    logical: true,
    up: true,
    mtu: 0,
    kind: "vlan",
    type: "ether",
    parentName: nic,
    vlan: { vlanID: tag, vlanProtocol: "802.1q" },
    layer: "platform",
  };
}

function defaultRoute(gateway: string, outLinkName: string) {
  return {
    family: "inet4",
    dst: "",
    src: "",
    gateway,
    outLinkName,
    table: "main",
    priority: 1024,
    scope: "global",
    type: "unicast",
    flags: "",
    protocol: "static",
    layer: "platform",
  };
}
