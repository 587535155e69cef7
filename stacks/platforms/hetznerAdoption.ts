// The servers of a running cluster at Hetzner, which someone else has made, with the network and what else the program would create. Only reads.
import { hetznerApi, hetznerList } from "../../components/api/hetznerApi.ts";
import { hetznerTypes as types } from "../../components/machines/hetzner/hetznerCreated.ts";
import { serverOf } from "../../components/machines/hetzner/serverOf.ts";
import { spreadGroup } from "../../components/machines/hetzner/spreadGroup.ts";
import type { AdoptionAccess, FoundMachine, FoundPlatform, FoundResource, PlatformFault } from "./foundMachines.ts";
import { hetznerPatches } from "./hetznerPatches.ts";
import type { HetznerConfig } from "./hetznerRules.ts";
import type { PlatformAdoption } from "./platform.ts";

/** As the API lists it, like everything here. https://docs.hetzner.cloud/reference/cloud */
export interface FoundServer {
  readonly id: number;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly server_type: { readonly name: string };
  readonly location?: { readonly name: string };
  readonly public_net: {
    readonly ipv4?: { readonly ip: string } | null;
    readonly firewalls?: readonly { readonly id: number }[];
  };
  readonly private_net: readonly {
    readonly network: number;
    readonly ip: string;
    readonly mac_address?: string;
    readonly alias_ips?: readonly string[];
  }[];
  readonly placement_group?: { readonly id: number; readonly name: string } | null;
}

interface FoundNetwork {
  readonly id: number;
  readonly name: string;
  readonly ip_range: string;
  readonly subnets: readonly { readonly type: string; readonly ip_range: string; readonly network_zone: string }[];
}

interface FoundBalancer {
  readonly id: number;
  readonly name: string;
  readonly public_net: { readonly ipv4?: { readonly ip: string } | null };
  readonly private_net: readonly { readonly network: number; readonly ip: string }[];
  readonly services: readonly { readonly listen_port: number }[];
}

export interface FoundProject {
  readonly servers: readonly FoundServer[];
  readonly networks: readonly FoundNetwork[];
  readonly load_balancers: readonly FoundBalancer[];
}

type AdoptedConfig = Pick<HetznerConfig, "clusterName" | "nodes" | "network" | "settings">;

export const hetznerAdoption: PlatformAdoption<HetznerConfig> = {
  async find(config, { token, deadlineSeconds, chosen }) {
    const api = { ...hetznerApi(token), deadlineSeconds };
    const kinds = ["servers", "networks", "load_balancers"] as const;
    const lists = await Promise.all(kinds.map(async (kind) => [kind, await hetznerList(api, kind)]));
    return hetznerFound(config, Object.fromEntries(lists) as FoundProject, chosen);
  },
  patches: (node, { byNode, publicAddress }) =>
    hetznerPatches({ role: node.role, providerId: byNode[node.name]?.providerId }, publicAddress),
  planned: {
    harmless: ["name", "deleteProtection", "rebuildProtection", "labels", "rules[].description"],
    disruptive: ["serverType", "placementGroupId", "publicNets", "ipRange", "networkZone"],
  },
};

/** `chosen` has the names or ids of servers by node name, where the user has named them. */
export function hetznerFound(
  config: AdoptedConfig,
  project: FoundProject,
  chosen: AdoptionAccess["chosen"],
): FoundPlatform {
  const { clusterName, nodes, settings } = config;
  const found = nodes.map((node) => ({ node, ...serverFor(node, config, project, chosen[node.name]) }));
  const matched = found.flatMap(({ node, server }) => (server === undefined ? [] : [{ node, server }]));
  const missing = found.flatMap(({ fault }) => fault ?? []);
  const network = networkOf(config, project, matched);
  const component = { type: "sluice:machines:HetznerMachines", name: clusterName };
  const part = (type: string, name: string, id: string): FoundResource => ({
    type,
    name: `${clusterName}-${name}`,
    id,
    component,
  });
  const balancer = project.load_balancers.find(({ private_net }) =>
    private_net.some((own) => own.network === network.id && own.ip === settings.loadBalancer?.address),
  );
  const groups = groupsOf(config, matched);
  const firewalls = firewallsOf(matched);
  const parts = [
    ...(network.id === undefined
      ? []
      : [
          part(types.network, "network", `${network.id}`),
          part(types.subnet, "subnet", `${network.id}-${config.network.nodeCidr}`),
        ]),
    ...groups.found.map(({ group, id }) => part(types.group, group, `${id}`)),
    ...(firewalls.only === undefined ? [] : [part(types.firewall, "apis", `${firewalls.only}`)]),
    ...matched.map(({ node, server }) => part(types.server, node.name, `${server.id}`)),
    ...(balancer === undefined || network.id === undefined
      ? []
      : [
          part(types.balancer, "api", `${balancer.id}`),
          part(types.attachment, "api", `${balancer.id}-${network.id}`),
          ...balancer.services
            .filter(({ listen_port }) => listen_port === kubernetesPort)
            .map(({ listen_port }) => part(types.service, "api", `${balancer.id}__${listen_port}`)),
        ]),
  ];
  const isPublic = settings.loadBalancer?.public === true;
  return {
    machines: {
      byNode: Object.fromEntries(matched.map(({ node, server }) => [node.name, machineOf(server, node.address)])),
      ...(isPublic && { publicAddress: balancer?.public_net.ipv4?.ip }),
    },
    resources: parts,
    faults: [
      ...missing,
      ...network.faults,
      ...groups.faults,
      ...firewalls.faults,
      ...matched.flatMap(({ node, server }) => traitFaults(node, server, settings)),
    ],
    ...(firewalls.only === undefined && {
      notes: ["a firewall that admits hetzner.allowedCidrs to the APIs, and nothing else from outside"],
    }),
  };
}

const kubernetesPort = 6443;

function machineOf({ id, public_net, private_net }: FoundServer, address: string): FoundMachine {
  const mac = private_net.find(({ ip }) => ip === address)?.mac_address;
  return {
    talosAddress: public_net.ipv4?.ip ?? "",
    identity: mac === undefined ? {} : { mac },
    machineId: `${id}`,
    providerId: `hcloud://${id}`,
  };
}

interface Matched {
  readonly node: AdoptedConfig["nodes"][number];
  readonly server: FoundServer;
}

/** By what the user named, by the names that Sluice or the node has, or by the private address. */
function serverFor(
  { name, address }: Matched["node"],
  { clusterName }: AdoptedConfig,
  { servers }: FoundProject,
  chosen: string | undefined,
): { readonly server?: FoundServer; readonly fault?: PlatformFault } {
  const choose = `name it with --machine ${name}=<name or id of the server>`;
  if (chosen !== undefined) {
    const server = servers.find(({ id, name: own }) => `${id}` === chosen || own === chosen);
    const seen = `the project has no server ${chosen}`;
    return server === undefined ? { fault: { where: name, seen, remedy: choose } } : { server };
  }
  const named =
    servers.find((one) => one.name === `${clusterName}-${name}`) ?? servers.find((one) => one.name === name);
  const [first, ...others] = servers.filter(({ private_net }) => private_net.some(({ ip }) => ip === address));
  const server = named ?? first;
  if (named === undefined && others.length > 0) {
    const names = [first, ...others].map((one) => one?.name).join(", ");
    return {
      fault: { where: name, seen: `several servers have the private address ${address}: ${names}`, remedy: choose },
    };
  }
  if (server !== undefined) return { server };
  const seen = `no server of the project is called ${clusterName}-${name} or ${name}, and none has the private address ${address}`;
  return { fault: { where: name, seen, remedy: `${choose}, or correct nodes[].address` } };
}

/** The one that all nodes have their listed addresses in. */
function networkOf({ network, settings }: AdoptedConfig, { networks }: FoundProject, matched: readonly Matched[]) {
  const attachments = matched.map(({ node, server }) => ({
    node,
    own: server.private_net.find(({ ip }) => ip === node.address),
    addresses: server.private_net.map(({ ip }) => ip),
  }));
  const faults: PlatformFault[] = attachments
    .filter(({ own }) => own === undefined)
    .map(({ node, addresses }) =>
      addresses.length === 0
        ? {
            where: node.name,
            seen: "its server is in no private network",
            remedy: "servers of Sluice have one: adopt the cluster as platform: existing",
          }
        : {
            where: node.name,
            seen: `its private addresses are ${addresses.join(", ")}, and not ${node.address}`,
            remedy: "correct nodes[].address",
          },
    );
  faults.push(...matched.flatMap(({ node, server }) => furtherAttachments(node, server)));
  const ids = [...new Set(attachments.flatMap(({ own }) => own?.network ?? []))];
  if (ids.length > 1) {
    const names = ids.map((id) => networks.find((one) => one.id === id)?.name ?? id).join(", ");
    faults.push({
      where: "network",
      seen: `the servers are in several: ${names}`,
      remedy: "a cluster has one network",
    });
  }
  const [id] = ids;
  const there = networks.find((one) => one.id === id);
  if (id === undefined || there === undefined) return { id: undefined, faults };
  const where = `network ${there.name}`;
  const range = settings.networkCidr ?? network.nodeCidr;
  if (there.ip_range !== range) {
    faults.push({
      where,
      seen: `its range is ${there.ip_range}, and not ${range}`,
      remedy: `set hetzner.networkCidr to ${there.ip_range}`,
    });
  }
  const subnet = there.subnets.find(({ ip_range }) => ip_range === network.nodeCidr);
  if (subnet === undefined) {
    const ranges = there.subnets.map(({ ip_range }) => ip_range).join(", ");
    faults.push({
      where,
      seen: `its subnets are ${ranges}, and not ${network.nodeCidr}`,
      remedy: "set network.nodeCidr to the subnet of the nodes",
    });
  } else if (subnet.network_zone !== settings.networkZone) {
    faults.push({
      where,
      seen: `its zone is ${subnet.network_zone}`,
      remedy: `set hetzner.networkZone to ${subnet.network_zone}`,
    });
  }
  return { id, faults };
}

/** The first `up` would end them: the program has one attachment, without further addresses. */
function furtherAttachments({ name: where, address }: Matched["node"], { private_net }: FoundServer) {
  const others = private_net.filter(({ ip }) => ip !== address);
  const aliases = private_net.flatMap(({ alias_ips = [] }) => alias_ips);
  const isFurther = others.length > 0 && others.length < private_net.length;
  const remedy = "detach it, or adopt the cluster as platform: existing";
  return [
    ...(isFurther ? [{ where, seen: `its server has also ${others.map(({ ip }) => ip).join(", ")}`, remedy }] : []),
    ...(aliases.length > 0
      ? [{ where, seen: `its server has the alias addresses ${aliases.join(", ")}`, remedy }]
      : []),
  ];
}

/** Hetzner moves a server to another placement group only while it is off. */
function groupsOf({ nodes, settings }: AdoptedConfig, matched: readonly Matched[]) {
  if (!settings.placementGroups) return { found: [], faults: [] };
  const expected = Map.groupBy(nodes, ({ address }) => spreadGroup(address));
  const found: { readonly group: string; readonly id: number }[] = [];
  const faults: PlatformFault[] = [];
  const used = new Map<number, string>();
  for (const [group, members] of expected) {
    const ids = new Set(
      members.map(({ name }) => matched.find(({ node }) => node.name === name)?.server.placement_group?.id),
    );
    const [id] = ids;
    if (ids.size !== 1 || id === undefined || used.has(id)) {
      const names = members.map(({ name }) => name).join(", ");
      faults.push({
        where: names,
        seen: "the servers are not together in one placement group of their own, and Hetzner moves only servers that are off",
        remedy: "set hetzner.placementGroups to false: the servers stay as they are",
      });
      continue;
    }
    used.set(id, group);
    found.push({ group, id });
  }
  return { found, faults };
}

function firewallsOf(matched: readonly Matched[]) {
  const ids = new Set(matched.flatMap(({ server }) => (server.public_net.firewalls ?? []).map(({ id }) => id)));
  const [only] = ids;
  if (ids.size <= 1) return { only, faults: [] };
  const fault: PlatformFault = {
    where: "firewalls",
    seen: `the servers have ${ids.size}: ${[...ids].join(", ")}`,
    remedy:
      "Sluice manages one for all servers: put their rules together, or apply the others by label to something else",
  };
  return { only: undefined, faults: [fault] };
}

function traitFaults(
  node: Matched["node"],
  { server_type, location, public_net }: FoundServer,
  settings: AdoptedConfig["settings"],
): readonly PlatformFault[] {
  const wanted = serverOf(node, settings);
  const fault = (seen: string, remedy: string) => ({ where: node.name, seen, remedy });
  return [
    ...(server_type.name === wanted.serverType
      ? []
      : [
          fault(
            `its type is ${server_type.name}, and not ${wanted.serverType}`,
            `set nodes[].serverType to ${server_type.name}`,
          ),
        ]),
    ...(location === undefined || location.name === wanted.location
      ? []
      : [
          fault(`it is in ${location.name}, and not in ${wanted.location}`, `set nodes[].location to ${location.name}`),
        ]),
    ...(public_net.ipv4?.ip
      ? []
      : [
          fault(
            "it has no public IPv4 address",
            "Sluice reaches servers by one: adopt the cluster as platform: existing",
          ),
        ]),
  ];
}
