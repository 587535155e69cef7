import * as hcloud from "@pulumi/hcloud";
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "./machine.ts";
import type { Role } from "./node.ts";
import { spreadGroup } from "./spreadGroup.ts";

export interface HetznerNode {
  readonly name: string;
  readonly role: Role;
  /** In the private network. */
  readonly address: string;
  readonly serverType?: string | undefined;
  readonly location?: string | undefined;
}

export interface HetznerMachinesArgs {
  readonly clusterName: string;
  readonly nodes: readonly HetznerNode[];
  /** The range that the nodes and the load balancer have their addresses from: the subnet. */
  readonly nodeCidr: string;
  /** The network around it. Default: the subnet is all of it. */
  readonly networkCidr?: string | undefined;
  readonly networkZone: string;
  /** Of every server that names none, and of the load balancer. */
  readonly location: string;
  /** Of every server that names none. */
  readonly serverTypes: Readonly<Record<Role, string>>;
  /** Who reaches the Talos and Kubernetes APIs by the servers' public addresses. */
  readonly allowedCidrs: readonly string[];
  /** In front of the control planes. */
  readonly loadBalancer?: HetznerLoadBalancerArgs | undefined;
  /** The image, a snapshot's id. */
  readonly image: pulumi.Input<string>;
  /** Have the engine and Hetzner refuse to delete. */
  readonly protect: boolean;
  /** Stands before every server: refuses what may not be done to it. */
  readonly changes: pulumi.Resource;
}

/** What a node's server is, and where. */
export function serverOf(
  node: HetznerNode,
  { serverTypes, location }: Pick<HetznerMachinesArgs, "serverTypes" | "location">,
) {
  return { serverType: node.serverType ?? serverTypes[node.role], location: node.location ?? location };
}

export interface HetznerLoadBalancerArgs {
  /** In the private network. */
  readonly address: string;
  readonly type: string;
  /** Serve the Kubernetes API to everybody: Hetzner's firewalls do not cover load balancers. */
  readonly public: boolean;
}

/** Servers in a private network of their own, closed to the world but for who is allowed. */
export class HetznerMachines extends pulumi.ComponentResource {
  readonly machines: readonly Machine[];
  /** Name of the private network. */
  readonly network: pulumi.Output<string>;
  /** The load balancer's public address, where it has one that serves. */
  readonly publicApi: pulumi.Output<string> | undefined;

  constructor(name: string, args: HetznerMachinesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { protect } = args;
    super("sluice:machines:HetznerMachines", name, {}, { ...opts, protect });

    const network = new hcloud.Network(
      `${name}-network`,
      {
        name: args.clusterName,
        ipRange: args.networkCidr ?? args.nodeCidr,
        labels: clusterLabels(args),
        deleteProtection: protect,
      },
      { parent: this },
    );
    const subnet = new hcloud.NetworkSubnet(
      `${name}-subnet`,
      { networkId: numeric(network), type: "cloud", networkZone: args.networkZone, ipRange: args.nodeCidr },
      { parent: this, deleteBeforeReplace: true }, // the range of one that was half made is taken
    );
    const servers = this.makeServers(name, args, subnet);

    this.network = network.name;
    this.publicApi = args.loadBalancer && this.makeLoadBalancer(name, args, args.loadBalancer, subnet);
    this.machines = servers.map(({ node: { name, role, address }, server }) => ({
      ...{ name, role, address },
      reach: server.ipv4Address,
      identity: server.networks.apply((networks) => privateNic(networks, address)),
      providerId: pulumi.interpolate`hcloud://${server.id}`,
      machineId: server.id,
    }));
    this.registerOutputs();
  }

  private makeServers(name: string, args: HetznerMachinesArgs, subnet: hcloud.NetworkSubnet) {
    const { protect } = args;
    const firewall = new hcloud.Firewall(
      `${name}-apis`,
      { name: `${args.clusterName}-apis`, rules: firewallRules(args.allowedCidrs), labels: clusterLabels(args) },
      { parent: this },
    );
    const groups = new Map(
      [...new Set(args.nodes.map(({ address }) => spreadGroup(address)))].map((group) => [
        group,
        new hcloud.PlacementGroup(
          `${name}-${group}`,
          { name: `${args.clusterName}-${group}`, type: "spread", labels: clusterLabels(args) },
          { parent: this },
        ),
      ]),
    );
    return args.nodes.map((node) => ({
      node,
      server: new hcloud.Server(
        `${name}-${node.name}`,
        {
          name: `${args.clusterName}-${node.name}`,
          ...serverOf(node, args),
          image: args.image,
          labels: { ...clusterLabels(args), node: node.name, role: node.role },
          // In the call that creates it, so that there is no moment without.
          firewallIds: [numeric(firewall)],
          placementGroupId: pulumi.output(groups.get(spreadGroup(node.address))?.id).apply(Number),
          // Without aliasIps the plugin attaches the server anew in every update.
          networks: [{ subnetId: subnet.id, ip: node.address, aliasIps: [] }],
          deleteProtection: protect,
          rebuildProtection: protect, // Hetzner wants both to be the same
        },
        {
          parent: this,
          dependsOn: [args.changes],
          // Either would replace the server, and with it the node's disk: Talos is upgraded in place, and takes its config by its API.
          ignoreChanges: ["image", "userData"],
          // Another machine gets the same name and address, and Hetzner has both but once.
          deleteBeforeReplace: true,
        },
      ),
    }));
  }

  /** One after the other: Hetzner locks a load balancer while something is done to it, and the plugin tries again only after a while. */
  private makeLoadBalancer(
    name: string,
    args: HetznerMachinesArgs,
    { address, type, public: isPublic }: HetznerLoadBalancerArgs,
    subnet: hcloud.NetworkSubnet,
  ): pulumi.Output<string> | undefined {
    const balancer = new hcloud.LoadBalancer(
      `${name}-api`,
      {
        name: `${args.clusterName}-api`,
        loadBalancerType: type,
        location: args.location,
        labels: clusterLabels(args),
        deleteProtection: args.protect,
      },
      { parent: this },
    );
    const attached = new hcloud.LoadBalancerNetwork(
      `${name}-api`,
      { loadBalancerId: numeric(balancer), subnetId: subnet.id, ip: address, enablePublicInterface: isPublic },
      { parent: this },
    );
    const service = new hcloud.LoadBalancerService(
      `${name}-api`,
      {
        loadBalancerId: balancer.id,
        protocol: "tcp",
        listenPort: 6443,
        destinationPort: 6443,
        // An API server that is gone is left out after 10 s to 15 s.
        healthCheck: { protocol: "tcp", port: 6443, interval: 5, timeout: 5, retries: 2 },
      },
      { parent: this, dependsOn: [attached] },
    );
    const target = new hcloud.LoadBalancerTarget(
      `${name}-api`,
      {
        loadBalancerId: numeric(balancer),
        type: "label_selector",
        labelSelector: `cluster=${args.clusterName},role=controlplane`,
        usePrivateIp: true,
      },
      { parent: this, dependsOn: [service] },
    );
    // Who is handed the address may rely on it: it is known when the last part is made.
    return isPublic ? pulumi.all([balancer.ipv4, target.id]).apply(([ipv4]) => ipv4) : undefined;
  }
}

/** Inbound, and nothing else comes in. Nodes talk over the private network, which no firewall covers; answers to what they ask come back. */
function firewallRules(allowedCidrs: readonly string[]) {
  if (allowedCidrs.length === 0) return [];
  return [
    { port: "50000", description: "Talos API" },
    { port: "6443", description: "Kubernetes API" },
  ].map((rule) => ({ ...rule, direction: "in", protocol: "tcp", sourceIps: [...allowedCidrs] }));
}

function clusterLabels({ clusterName }: HetznerMachinesArgs) {
  return { cluster: clusterName };
}

/** Ids are numbers for Hetzner and texts for Pulumi. */
function numeric({ id }: pulumi.CustomResource): pulumi.Output<number> {
  return id.apply(Number);
}

/** The public NIC's MAC address is nowhere to be read. */
function privateNic(
  networks: readonly { readonly ip?: string; readonly macAddress?: string }[] | undefined,
  address: string,
) {
  const mac = networks?.find(({ ip }) => ip === address)?.macAddress;
  return mac === undefined ? {} : { mac };
}
