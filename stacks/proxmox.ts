// The Proxmox platform: the only place that knows it. It gives the chain machines, and what their configs need to know of it.
import * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import { talosPlatform } from "../components/images/installer.ts";
import { installerSchematic, nodeSchematic } from "../components/images/nodeSchematic.ts";
import { ProxmoxImages } from "../components/images/proxmoxImages.ts";
import { schematicId } from "../components/images/schematic.ts";
import { MachineChanges } from "../components/machines/machineChanges.ts";
import { ProxmoxMachines, type ProxmoxNode } from "../components/machines/proxmoxMachines.ts";
import { proxmoxTopology } from "../components/machines/proxmoxTopology.ts";
import { type VmSeed, vmSize } from "../components/machines/proxmoxVm.ts";
import { vmHost } from "../components/machines/vmHost.ts";
import { addressPlan } from "../components/network/addressPlan.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import type { PlatformMachines } from "./machines.ts";
import { proxmoxToken } from "./proxmoxToken.ts";
import { proxmoxVolumes } from "./proxmoxVolumes.ts";
import type { ClusterConfig } from "./schema.ts";

type Settings = NonNullable<ClusterConfig["proxmox"]>;

export function deployProxmox(config: ClusterConfig, credentials: pulumi.Output<TalosCredentials>): PlatformMachines {
  const { proxmox, clusterName, network, image } = config;
  if (proxmox === undefined) throw new Error("platform 'proxmox' has no settings"); // the shape of the config sees to them
  const token = proxmoxToken(config);
  const provider = new proxmoxve.Provider(
    `${clusterName}-proxmox`,
    { endpoint: proxmox.endpoint, insecure: proxmox.insecure, apiToken: pulumi.secret(token.value) },
    // Without a token of one's own, what the state has serves a preview.
    { ignoreChanges: token.isStandIn ? ["apiToken"] : [] },
  );
  const nodes = proxmoxNodes(config, proxmox);
  const installer = installerSchematic(config);
  const images = new ProxmoxImages(
    `${clusterName}-image`,
    {
      ...{ clusterName, talosVersion: config.talosVersion, factory: image.factory, storage: proxmox.imageStorage },
      ...{ architecture: image.architecture, secureBoot: image.secureBoot, deadline: config.timeouts.images },
      platform: talosPlatform("proxmox", network.addressing),
      installer,
      nodes: nodes.map((node) => ({ ...node, schematic: nodeSchematic(config, node) })),
    },
    { providers: [provider] },
  );
  const { vm: shape, storage, bridge, pool, tags, region } = proxmox;
  const patches = ({ vmId }: ProxmoxNode, host: string) => [proxmoxTopology({ region, host, vmId })];
  const { endpoint: api, insecure } = proxmox;
  const changes = new MachineChanges(
    clusterName,
    {
      machines: Object.fromEntries(nodes.map(({ name, role, address, vmId }) => [name, { role, address, vmId }])),
      place: { kind: "proxmox", cluster: clusterName, endpoint: api, insecure },
      hasFixedAddresses: network.addressing !== "dhcp",
      token: token.value,
      credentials,
      deadline: config.timeouts.preflight,
    },
    { ignoreChanges: token.isStandIn ? ["token"] : [] },
  );
  const servers = new ProxmoxMachines(
    clusterName,
    {
      installer: schematicId(installer),
      ...{ clusterName, region, nodes, images: images.images, shape, storage, bridge, pool, tags },
      vlan: network.vlan?.mode === "access" ? network.vlan.tag : undefined,
      seeds: network.addressing === "nocloud" ? seeds(config) : undefined,
      // Without the agent the listed address stands, and the first gate says whether the machine there is the one meant.
      leases:
        network.addressing === "dhcp" && shape.agent
          ? {
              ...{ endpoint: proxmox.endpoint, insecure: proxmox.insecure, deadline: config.timeouts.lease },
              ...{ token: token.value, isTokenStandIn: token.isStandIn },
            }
          : undefined,
      protect: config.protect,
      changes,
    },
    { provider },
  );
  const { machines, hosts } = servers;
  const volumes = proxmoxVolumes(config, machines, { provider });
  return {
    machines,
    // Installers are asked for by a schematic that the factory must know by then.
    ready: [images, servers],
    endpoint: endpoint(config, machines),
    patches: Object.fromEntries(
      nodes.map((node) => [
        node.name,
        pulumi.output(hosts[node.name] ?? node.host).apply((host) => patches(node, host)),
      ]),
    ),
    ...(volumes !== undefined && { proxmoxCsi: volumes }),
  };
}

/** Rules have every node have a VM id, and the address plan gives every VM a MAC. */
function proxmoxNodes(config: ClusterConfig, { hosts, sizes }: Settings): ProxmoxNode[] {
  const macs = new Map(addressPlan(config).map(({ name, mac }) => [name, mac]));
  return config.nodes.map((node) => {
    const { name, role, address, vmId } = node;
    const mac = macs.get(name);
    if (vmId === undefined || mac === undefined) throw new Error(`node '${name}' has no VM id or no MAC`);
    const [size, schematic] = [vmSize(sizes[role], node.size), schematicId(nodeSchematic(config, node))];
    return {
      ...{ name, role, address, vmId, mac, size, schematic },
      host: vmHost(node, hosts),
      isHostNamed: node.host !== undefined,
    };
  });
}

function seeds(config: ClusterConfig): Record<string, VmSeed> {
  const { nameservers } = config.network;
  return Object.fromEntries(
    addressPlan(config).map(({ name, address, prefixLength, gateway }) => [
      name,
      { address: `${address}/${prefixLength}`, gateway, nameservers },
    ]),
  );
}

/** What the configuration says, else the VIP, which is handed out when it has answered, else the first control plane by name. */
function endpoint(
  { endpoint: named, network }: ClusterConfig,
  machines: PlatformMachines["machines"],
): pulumi.Output<string> {
  const shared = named ?? network.vip;
  if (shared !== undefined) return pulumi.output(shared);
  const first = machines.find(({ role }) => role === "controlplane");
  if (first === undefined) throw new Error("there is no control plane"); // a rule says it before
  return first.reach;
}
