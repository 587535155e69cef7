// What Hetzner offered when this was written. https://docs.hetzner.cloud/reference/cloud
import type { Catalogue } from "../base/catalogue.ts";
import { catalogueFault, catalogueWarning } from "../base/catalogue.ts";
import type { Fault } from "../base/fault.ts";
import { rulesOn } from "../base/rule.ts";
import type { HetznerConfig } from "./hetznerRules.ts";

const rule = rulesOn<HetznerConfig>();

/** The network zone of each location. https://docs.hetzner.com/cloud/general/locations */
export const zoneOf: Readonly<Record<string, string>> = {
  fsn1: "eu-central",
  nbg1: "eu-central",
  hel1: "eu-central",
  ash: "us-east",
  hil: "us-west",
  sin: "ap-southeast",
};

const locations: Catalogue = {
  kind: "a location of Hetzner",
  known: Object.keys(zoneOf),
  form: /^[a-z]{3}\d?$/,
  aliases: {
    falkenstein: "fsn1",
    nuremberg: "nbg1",
    nürnberg: "nbg1",
    helsinki: "hel1",
    ashburn: "ash",
    hillsboro: "hil",
    singapore: "sin",
    // Datacenters are in locations.
    ...Object.fromEntries(
      Object.keys(zoneOf).flatMap((name) => Array.from({ length: 20 }, (_, index) => [`${name}-dc${index + 1}`, name])),
    ),
  },
  refusesNear: false,
};

export const networkZones: Catalogue = {
  kind: "a network zone of Hetzner",
  known: [...new Set(Object.values(zoneOf))],
  form: /^[a-z]{2}-[a-z]+$/,
  aliases: zoneOf,
  refusesNear: true,
};

const serverTypes: Catalogue = {
  kind: "a server type of Hetzner",
  known: [
    ...["cx22", "cx32", "cx42", "cx52", "cx23", "cx33", "cx43", "cx53"],
    ...["cpx11", "cpx21", "cpx31", "cpx41", "cpx51", "cpx12", "cpx22", "cpx32", "cpx42", "cpx52", "cpx62"],
    ...["ccx13", "ccx23", "ccx33", "ccx43", "ccx53", "ccx63", "cax11", "cax21", "cax31", "cax41"],
  ],
  form: /^c(x|px|cx|ax)\d{2}$/,
  refusesNear: false,
};

const loadBalancerTypes: Catalogue = {
  kind: "a load balancer type of Hetzner",
  known: ["lb11", "lb21", "lb31"],
  form: /^lb\d{2}$/,
  refusesNear: false,
};

type Named = readonly [path: string, catalogue: Catalogue, name: string | undefined];

function names({ settings, nodes }: Pick<HetznerConfig, "settings" | "nodes">): Named[] {
  return [
    ["hetzner.location", locations, settings.location],
    ["hetzner.networkZone", networkZones, settings.networkZone],
    ["hetzner.serverTypes.controlplane", serverTypes, settings.serverTypes.controlplane],
    ["hetzner.serverTypes.worker", serverTypes, settings.serverTypes.worker],
    ["hetzner.loadBalancer.type", loadBalancerTypes, settings.loadBalancer?.type],
    ...nodes.flatMap((node, index): Named[] => [
      [`nodes[${index}].location`, locations, node.location],
      [`nodes[${index}].serverType`, serverTypes, node.serverType],
    ]),
  ];
}

function found(say: typeof catalogueFault, config: Pick<HetznerConfig, "settings" | "nodes">): Fault[] {
  return names(config).flatMap(([path, catalogue, name]) => {
    const message = name === undefined ? undefined : say(catalogue, name);
    return message === undefined ? [] : [{ path, message }];
  });
}

/** Hetzner would refuse them only after other resources have been created. */
export const offeredNames = rule(["settings", "nodes"], (config) => found(catalogueFault, config));

export const hetznerWarnings = [rule(["settings", "nodes"], (config) => found(catalogueWarning, config))];
