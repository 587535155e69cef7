import { contains, firstHost, prefixLength } from "../../components/network/cidr.ts";
import { rule } from "./rule.ts";

const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"];

/** Locations by network zone; a location that is newer than this list is not judged. https://docs.hetzner.com/cloud/general/locations */
const zones: Readonly<Record<string, string>> = {
  fsn1: "eu-central",
  nbg1: "eu-central",
  hel1: "eu-central",
  ash: "us-east",
  hil: "us-west",
  sin: "ap-southeast",
};

/** What a private network may be. https://docs.hetzner.cloud/reference/cloud#networks */
export const privateNetwork = rule(["network", "hetzner"], function* ({ network, hetzner }) {
  if (hetzner === undefined) return;
  const path = hetzner.networkCidr === undefined ? "network.nodeCidr" : "hetzner.networkCidr";
  const whole = hetzner.networkCidr ?? network.nodeCidr;
  if (!privateRanges.some((range) => contains(range, whole))) {
    yield { path, message: `${whole} is not private: Hetzner takes ranges inside ${privateRanges.join(", ")}` };
  }
  if (prefixLength(whole) > 24) {
    yield { path, message: `${whole} is too small for a Hetzner network: it must be a /24 or larger` };
  }
  if (!contains(whole, network.nodeCidr)) {
    yield { path: "network.nodeCidr", message: `${network.nodeCidr} is outside hetzner.networkCidr ${whole}` };
  }
});

/** Hetzner's router has the first address of the network. */
export const routerAddress = rule(["network", "hetzner", "nodes"], function* ({ network, hetzner, nodes }) {
  if (hetzner === undefined) return;
  const router = firstHost(hetzner.networkCidr ?? network.nodeCidr);
  const message = `${router} is the address of Hetzner's router, the first of the network`;
  for (const [index, { address }] of nodes.entries()) {
    if (address === router) yield { path: `nodes[${index}].address`, message };
  }
  if (hetzner.loadBalancer?.address === router) yield { path: "hetzner.loadBalancer.address", message };
});

/** What works in a network of one's own and not in Hetzner's, which routes and does not switch. */
export const withoutLayer2 = rule(["platform", "network", "image"], function* ({ platform, network, image }) {
  if (platform !== "hetzner") return;
  if (network.vip !== undefined) {
    yield {
      path: "network.vip",
      message:
        "a Hetzner network routes and carries no ARP, so no node can take over an address: use hetzner.loadBalancer",
    };
  }
  if (network.vlan !== undefined) yield { path: "network.vlan", message: "Hetzner networks have no VLANs: remove it" };
  if (network.addressing !== "dhcp") {
    yield {
      path: "network.addressing",
      message: `is '${network.addressing}', but Hetzner gives its servers their addresses by DHCP: use 'dhcp'`,
    };
  }
  if (image.secureBoot) {
    yield { path: "image.secureBoot", message: "Hetzner Cloud servers have no Secure Boot: set it to false" };
  }
});

/** Machines are reached by their public addresses, and their firewall lets in these ranges only. */
export const reachable = rule(["platform", "hetzner"], function* ({ platform, hetzner }) {
  if (platform === "hetzner" && (hetzner?.allowedCidrs ?? []).length === 0) {
    yield {
      path: "hetzner.allowedCidrs",
      message: "is empty: the firewall would keep out everybody, this program too: list the range that it is run from",
    };
  }
});

/** What Hetzner takes for a label. https://docs.hetzner.cloud/reference/cloud#labels */
export const snapshotLabels = rule(["hetzner"], function* ({ hetzner }) {
  for (const [key, value] of Object.entries(hetzner?.snapshot.labels ?? {})) {
    const path = `hetzner.snapshot.labels.${key}`;
    if (!labelKey.test(key)) yield { path, message: "is no name that Hetzner takes for a label" };
    if (!labelValue.test(value)) {
      const message = "is no value that Hetzner takes for a label: letters, digits, '-', '_' and '.', 63 at most";
      yield { path, message };
    }
  }
});

const labelValue = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const labelKey = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** A snapshot starts only on the architecture it was made for. The names of arm64 types begin with `cax`. */
export const serverArchitecture = rule(["hetzner", "image", "nodes"], function* ({ hetzner, image, nodes }) {
  if (hetzner === undefined) return;
  const types: [path: string, type: string | undefined][] = [
    ...Object.entries(hetzner.serverTypes).map(([role, type]): [string, string] => [
      `hetzner.serverTypes.${role}`,
      type,
    ]),
    ...nodes.map((node, index): [string, string | undefined] => [`nodes[${index}].serverType`, node.serverType]),
  ];
  for (const [path, type] of types) {
    const architecture = type?.startsWith("cax") ? "arm64" : "amd64";
    if (type !== undefined && architecture !== image.architecture) {
      yield { path, message: `${type} is ${architecture}, but image.architecture is ${image.architecture}` };
    }
  }
});

/** A server joins a private network of its own zone only. */
export const networkZone = rule(["hetzner", "nodes"], function* ({ hetzner, nodes }) {
  if (hetzner === undefined) return;
  const locations: [path: string, location: string | undefined][] = [
    ["hetzner.location", hetzner.location],
    ...nodes.map((node, index): [string, string | undefined] => [`nodes[${index}].location`, node.location]),
  ];
  for (const [path, location] of locations) {
    const zone = location === undefined ? undefined : zones[location];
    if (zone !== undefined && zone !== hetzner.networkZone) {
      yield {
        path,
        message: `${location} is in network zone ${zone}, but hetzner.networkZone is ${hetzner.networkZone}`,
      };
    }
  }
});
