// Everything in a Hetzner project that has a cluster's label.
import { type HetznerApi, hetznerGet, hetznerList } from "../../api/hetznerApi.ts";
import { type CreatedResource, type CreatedResources, keyOf } from "../../lifecycle/createdResource.ts";

interface Item {
  readonly id: number;
  readonly name: string;
  readonly created?: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Network extends Item {
  readonly subnets: readonly { readonly ip_range: string }[];
  readonly servers: readonly number[];
  readonly load_balancers?: readonly number[];
}

interface Server extends Item {
  readonly private_net: readonly { readonly network: number }[];
}

interface Firewall extends Item {
  readonly applied_to: readonly unknown[];
}

interface PlacementGroup extends Item {
  readonly servers: readonly number[];
}

interface LoadBalancer extends Item {
  readonly private_net: readonly { readonly network: number }[];
  readonly services: readonly { readonly listen_port: number }[];
  readonly targets: readonly unknown[];
}

/** The answers of the API. */
export interface HetznerProject {
  readonly networks: readonly Network[];
  readonly servers: readonly Server[];
  readonly firewalls: readonly Firewall[];
  readonly placement_groups: readonly PlacementGroup[];
  readonly load_balancers: readonly LoadBalancer[];
  /** What others have attached to the networks, by the API's name of the kind. */
  readonly attached: { readonly servers: readonly Item[]; readonly load_balancers: readonly Item[] };
}

const kubernetesPort = 6443;

const kinds = ["networks", "servers", "firewalls", "placement_groups", "load_balancers"] as const;

/** All kinds at the same time, so that it takes no longer than one call. */
export async function hetznerProject(api: HetznerApi, cluster: string): Promise<HetznerProject> {
  const query = { label_selector: `cluster=${cluster}` };
  const lists = await Promise.all(kinds.map(async (kind) => [kind, await hetznerList(api, kind, query)]));
  const project = Object.fromEntries(lists) as Omit<HetznerProject, "attached">;
  const attached = async (kind: "servers" | "load_balancers") => {
    const own = new Set(project[kind].map(({ id }) => id));
    const ids = project.networks.flatMap((network) => network[kind] ?? []).filter((id) => !own.has(id));
    const found = ids.map(async (id) => Object.values(record(await hetznerGet(api, `/${kind}/${id}`)))[0] as Item);
    return Promise.all(found);
  };
  return {
    ...project,
    attached: { servers: await attached("servers"), load_balancers: await attached("load_balancers") },
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return (value ?? {}) as Readonly<Record<string, unknown>>;
}

export const hetznerTypes = {
  network: "hcloud:index/network:Network",
  subnet: "hcloud:index/networkSubnet:NetworkSubnet",
  firewall: "hcloud:index/firewall:Firewall",
  group: "hcloud:index/placementGroup:PlacementGroup",
  server: "hcloud:index/server:Server",
  balancer: "hcloud:index/loadBalancer:LoadBalancer",
  attachment: "hcloud:index/loadBalancerNetwork:LoadBalancerNetwork",
  service: "hcloud:index/loadBalancerService:LoadBalancerService",
} as const;

/**
 * The resources that `HetznerMachines` creates, by name. Others with the label are not its own. The plugin adds a load balancer's target even if it exists,
 * and deletes it with the load balancer, so targets need not be in the state.
 */
export function hetznerCreated(cluster: string, project: HetznerProject): CreatedResources {
  const { networks, servers, firewalls, placement_groups, load_balancers } = project;
  const one = (
    kind: string,
    type: string,
    item: Item,
    more: Pick<CreatedResource, "part" | "isUsed" | "within" | "uses">,
  ) => ({
    type,
    id: `${item.id}`,
    title: `${kind.replace("_", " ").replace(/s$/, "")} ${item.name} (id ${item.id})`,
    created: item.created,
    isRoot: type === hetznerTypes.network,
    removal: removal(kind, item),
    ...more,
  });
  const named = <T extends Item>(items: readonly T[], part: (name: string, item: T) => string | undefined) =>
    items.flatMap((item) => {
      const own =
        item.name === cluster
          ? ""
          : item.name.startsWith(`${cluster}-`)
            ? item.name.slice(cluster.length + 1)
            : undefined;
      const found = own === undefined ? undefined : part(own, item);
      return found === undefined ? [] : [{ item, part: found }];
    });
  const own = named(networks, (name) => (name === "" ? "network" : undefined));
  const networkKeys = new Set(own.map(({ item }) => item.id));
  const within = (attached: readonly { readonly network: number }[]) =>
    attached.map(({ network }) => keyOf({ type: hetznerTypes.network, id: `${network}` }));
  const subnetsOf = (attached: readonly { readonly network: number }[]) =>
    own
      .filter(({ item }) => attached.some(({ network }) => network === item.id))
      .flatMap(({ item }) =>
        item.subnets.map(({ ip_range }) => keyOf({ type: hetznerTypes.subnet, id: `${item.id}-${ip_range}` })),
      );
  // Neither a firewall nor a placement group can be deleted while a server uses it.
  const usedBy = ({ id }: Server) => [
    ...placement_groups
      .filter(({ servers }) => servers.includes(id))
      .map(({ id }) => keyOf({ type: hetznerTypes.group, id: `${id}` })),
    ...firewalls.map(({ id }) => keyOf({ type: hetznerTypes.firewall, id: `${id}` })),
  ];
  return {
    component: "sluice:machines:HetznerMachines",
    resources: [
      ...own.map(({ item, part }) =>
        one("networks", hetznerTypes.network, item, {
          part,
          isUsed: item.servers.length + (item.load_balancers?.length ?? 0) > 0,
          within: [],
        }),
      ),
      ...own.flatMap(({ item }) =>
        item.subnets.map(({ ip_range }) => ({
          ...one("networks", hetznerTypes.subnet, item, {
            part: "subnet",
            isUsed: item.servers.length > 0,
            within: [keyOf({ type: hetznerTypes.network, id: `${item.id}` })],
          }),
          id: `${item.id}-${ip_range}`,
          title: `subnet ${ip_range} of network ${item.name}`,
          isRoot: false,
          isUnmarked: true,
        })),
      ),
      ...named(firewalls, (name) => (name === "apis" ? name : undefined)).map(({ item, part }) =>
        one("firewalls", hetznerTypes.firewall, item, { part, isUsed: item.applied_to.length > 0, within: [] }),
      ),
      ...named(placement_groups, (name) => (/^spread-/.test(name) ? name : undefined)).map(({ item, part }) =>
        one("placement_groups", hetznerTypes.group, item, { part, isUsed: item.servers.length > 0, within: [] }),
      ),
      ...named(servers, (name, { labels }) => (labels.node === name ? name : undefined)).map(({ item, part }) =>
        one("servers", hetznerTypes.server, item, {
          part,
          isUsed: true,
          within: within(item.private_net),
          uses: [...subnetsOf(item.private_net), ...usedBy(item)],
        }),
      ),
      ...named(load_balancers, (name) => (name === "api" ? name : undefined)).flatMap(({ item, part }) => {
        const balancer = one("load_balancers", hetznerTypes.balancer, item, {
          part,
          isUsed: item.targets.length > 0,
          within: within(item.private_net),
        });
        const services = item.services
          .filter((service) => service.listen_port === kubernetesPort)
          .map(({ listen_port }) => ({
            ...balancer,
            type: hetznerTypes.service,
            id: `${item.id}__${listen_port}`,
            title: `service ${listen_port} of load balancer ${item.name}`,
            isUnmarked: true,
            within: [keyOf({ type: hetznerTypes.balancer, id: `${item.id}` })],
          }));
        const attachments = item.private_net.map((attached) => ({
          ...balancer,
          type: hetznerTypes.attachment,
          id: `${item.id}-${attached.network}`,
          title: `attachment of load balancer ${item.name} to its network`,
          isUnmarked: true,
          within: [keyOf(balancer), ...within([attached])],
          uses: subnetsOf([attached]),
        }));
        return [balancer, ...attachments, ...services];
      }),
    ],
    blockers: [
      ...project.attached.servers.map((item) => ({
        title: `server ${item.name} (id ${item.id})`,
        removal: removal("servers", item),
      })),
      ...project.attached.load_balancers.map((item) => ({
        title: `load balancer ${item.name} (id ${item.id})`,
        removal: removal("load_balancers", item),
      })),
      ...servers
        .filter(
          ({ name, private_net, labels }) =>
            private_net.some(({ network }) => networkKeys.has(network)) && name !== `${cluster}-${labels.node}`,
        )
        .map((item) => ({ title: `server ${item.name} (id ${item.id})`, removal: removal("servers", item) })),
    ],
  };
}

/** With curl, because everyone has it. */
function removal(kind: string, { id }: Item): string {
  return `curl -X DELETE -H "Authorization: Bearer $HCLOUD_TOKEN" https://api.hetzner.cloud/v1/${kind}/${id}`;
}
