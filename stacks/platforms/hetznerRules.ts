import type { hetznerNode, hetzner as section } from "../../components/model/settings/hetzner.ts";
import { contains, firstHost, prefixLength } from "../../components/network/cidr.ts";
import { labOperator } from "../base/labName.ts";
import { rulesOn } from "../base/rule.ts";
import { networkZones, offeredNames, zoneOf } from "./hetznerCatalogue.ts";
import type { PlatformConfig } from "./platform.ts";

export type HetznerConfig = PlatformConfig<typeof section, typeof hetznerNode>;
const rule = rulesOn<HetznerConfig>();

const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"];

/** What a private network may be. https://docs.hetzner.cloud/reference/cloud#networks */
const privateNetwork = rule(["network", "settings"], function* ({ network, settings: hetzner }) {
  const path = hetzner.networkCidr === undefined ? "network.nodeCidr" : "hetzner.networkCidr";
  const whole = hetzner.networkCidr ?? network.nodeCidr;
  if (!privateRanges.some((range) => contains(range, whole))) {
    yield { path, message: `${whole} is not private: Hetzner accepts ranges inside ${privateRanges.join(", ")}` };
  }
  if (prefixLength(whole) > 24) {
    yield { path, message: `${whole} is too small for a Hetzner network: it must be a /24 or larger` };
  }
  if (!contains(whole, network.nodeCidr)) {
    yield { path: "network.nodeCidr", message: `${network.nodeCidr} is outside hetzner.networkCidr ${whole}` };
  }
});

/** Hetzner's router has the first address of the network. */
const routerAddress = rule(["network", "settings", "nodes"], function* ({ network, settings: hetzner, nodes }) {
  const router = firstHost(hetzner.networkCidr ?? network.nodeCidr);
  const message = `${router} is the address of Hetzner's router, the first of the network`;
  for (const [index, { address }] of nodes.entries()) {
    if (address === router) yield { path: `nodes[${index}].address`, message };
  }
  if (hetzner.loadBalancer?.address === router) yield { path: "hetzner.loadBalancer.address", message };
});

/** What needs a layer 2 network: Hetzner's routes and does not switch. */
const withoutLayer2 = rule(["network", "image"], function* ({ network, image }) {
  if (network.vlan !== undefined) yield { path: "network.vlan", message: "Hetzner networks have no VLANs: remove it" };
  if (network.addressing !== "dhcp") {
    yield {
      path: "network.addressing",
      message: `is '${network.addressing}', but Hetzner's servers get their addresses by DHCP: use 'dhcp'`,
    };
  }
  if (image.secureBoot) {
    yield { path: "image.secureBoot", message: "Hetzner Cloud servers have no Secure Boot: set it to false" };
  }
});

/** Machines are reached by their public addresses, and the firewall allows these ranges only. */
const reachable = rule(["settings"], function* ({ settings: { allowedCidrs } }) {
  if (allowedCidrs.length === 0) {
    yield {
      path: "hetzner.allowedCidrs",
      message: "is empty: the firewall would block everything, Sluice too: list the range from which Sluice is run",
    };
  }
});

/** What Hetzner accepts as a label. https://docs.hetzner.cloud/reference/cloud#labels */
const snapshotLabels = rule(["settings"], function* ({ settings: { snapshot } }) {
  for (const [key, value] of Object.entries(snapshot.labels ?? {})) {
    const path = `hetzner.snapshot.labels.${key}`;
    if (!labelKey.test(key)) yield { path, message: "is not a label name that Hetzner accepts" };
    if (!labelValue.test(value)) {
      const message = "is not a label value that Hetzner accepts: letters, digits, '-', '_' and '.', 63 at most";
      yield { path, message };
    }
  }
});

const labelValue = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const labelKey = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** A snapshot starts only on the architecture it was made for. The names of arm64 types begin with `cax`. */
const serverArchitecture = rule(["settings", "image", "nodes"], function* ({ settings: hetzner, image, nodes }) {
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

/** A server can join only a private network of its own zone. */
const networkZone = rule(["settings", "nodes"], function* ({ settings: hetzner, nodes }) {
  if (!networkZones.known.includes(hetzner.networkZone)) return; // reported by itself
  const locations: [path: string, location: string | undefined][] = [
    ["hetzner.location", hetzner.location],
    ...nodes.map((node, index): [string, string | undefined] => [`nodes[${index}].location`, node.location]),
  ];
  for (const [path, location] of locations) {
    const zone = location === undefined ? undefined : zoneOf[location];
    if (zone !== undefined && zone !== hetzner.networkZone) {
      yield {
        path,
        message: `${location} is in network zone ${zone}, but hetzner.networkZone is ${hetzner.networkZone}`,
      };
    }
  }
});

/** The firewall must allow the lab's own address. */
const openToLab = rule(["lab", "settings"], function* ({ lab, settings: { allowedCidrs } }) {
  if (lab === undefined || allowedCidrs.length === 0) return;
  if (!allowedCidrs.some((range) => contains(range, labOperator))) {
    yield {
      path: "hetzner.allowedCidrs",
      message: `does not contain ${labOperator}, from which commands inside the lab connect: add it`,
    };
  }
});

export const hetznerRules = [
  privateNetwork,
  routerAddress,
  withoutLayer2,
  reachable,
  snapshotLabels,
  serverArchitecture,
  offeredNames,
  networkZone,
  openToLab,
];
