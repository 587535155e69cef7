import * as hcloud from "@pulumi/hcloud";
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../model/machine.ts";
import type { HetznerNodeSettings, HetznerSettings } from "../../model/settings/hetzner.ts";
import type { NodeSettings } from "../../model/settings/node.ts";
import { serverOf } from "./serverOf.ts";
import { spreadGroup } from "./spreadGroup.ts";

export interface HetznerMachinesArgs
  extends Pick<
    HetznerSettings,
    "networkCidr" | "networkZone" | "location" | "serverTypes" | "allowedCidrs" | "loadBalancer" | "placementGroups"
  > {
  readonly clusterName: string;
  readonly nodes: readonly (Pick<NodeSettings, "name" | "role" | "address"> & HetznerNodeSettings)[];
  /** The subnet with the addresses of the nodes and the load balancer. */
  readonly nodeCidr: string;
  /** The snapshot's id. */
  readonly image: pulumi.Input<string>;
  /** Make the engine and Hetzner refuse to delete. */
  readonly protect: boolean;
  /** Created before every server: refuses unsafe changes. */
  readonly guard: pulumi.Resource;
}

/** Servers in a private network of their own, reachable from outside only for the allowed ranges. */
export class HetznerMachines extends pulumi.ComponentResource {
  readonly machines: readonly Machine[];
  /** Name of the private network. */
  readonly network: pulumi.Output<string>;
  /** The load balancer's public address, if it has one that serves. */
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
      { parent: this, deleteBeforeReplace: true }, // the range of an incomplete one is already taken
    );
    const servers = this.makeServers(name, args, subnet);

    this.network = network.name;
    this.publicApi = args.loadBalancer && this.makeLoadBalancer(name, args, args.loadBalancer, subnet);
    this.machines = servers.map(({ node: { name, role, address }, server }) => ({
      name,
      role,
      address,
      talosAddress: server.ipv4Address,
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
    const grouped = args.placementGroups ? args.nodes : [];
    const groups = new Map(
      [...new Set(grouped.map(({ address }) => spreadGroup(address)))].map((group) => [
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
          // Attached in the call that creates the server, so that there is no moment without it.
          firewallIds: [numeric(firewall)],
          ...(args.placementGroups && {
            placementGroupId: pulumi.output(groups.get(spreadGroup(node.address))?.id).apply(Number),
          }),
          // Without aliasIps the plugin attaches the server again in every update.
          networks: [{ subnetId: subnet.id, ip: node.address, aliasIps: [] }],
          deleteProtection: protect,
          rebuildProtection: protect, // Hetzner requires both to be equal
        },
        {
          parent: this,
          dependsOn: [args.guard],
          // A change of either would replace the server, and with it the node's disk: Talos is upgraded in place and gets its config through its API.
          ignoreChanges: ["image", "userData", ...(args.placementGroups ? [] : ["placementGroupId"])],
          // The new machine gets the same name and address, and both are unique at Hetzner.
          deleteBeforeReplace: true,
        },
      ),
    }));
  }

  /** One after the other: Hetzner locks a load balancer during each change, and the plugin retries only after a while. */
  private makeLoadBalancer(
    name: string,
    args: HetznerMachinesArgs,
    { address, type, public: isPublic }: NonNullable<HetznerSettings["loadBalancer"]>,
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
        // An API server that is down is left out after 10 s to 15 s.
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
    // Whoever gets the address can rely on it: it is known once the last part exists.
    return isPublic ? pulumi.all([balancer.ipv4, target.id]).apply(([ipv4]) => ipv4) : undefined;
  }
}

/** The only allowed inbound traffic. Nodes talk over the private network, which firewalls do not cover; answers to their own requests are allowed. */
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

/** Ids are numbers at Hetzner and strings in Pulumi. */
function numeric({ id }: pulumi.CustomResource): pulumi.Output<number> {
  return id.apply(Number);
}

/** The MAC address of the public NIC is not available anywhere. */
function privateNic(
  networks: readonly { readonly ip?: string; readonly macAddress?: string }[] | undefined,
  address: string,
) {
  const mac = networks?.find(({ ip }) => ip === address)?.macAddress;
  return mac === undefined ? {} : { mac };
}
