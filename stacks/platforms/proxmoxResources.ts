// What the engine creates on Proxmox, and in the cluster for it.
import * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import { proxmoxProxied } from "../../components/api/proxmoxApi.ts";
import { installerSchematic, nodeSchematic } from "../../components/images/nodeSchematic.ts";
import { ProxmoxImages } from "../../components/images/proxmoxImages.ts";
import { schematicId } from "../../components/images/schematic.ts";
import { ProxmoxCsiAccess } from "../../components/machines/proxmox/proxmoxCsiAccess.ts";
import { ProxmoxMachines, type ProxmoxNode } from "../../components/machines/proxmox/proxmoxMachines.ts";
import { proxmoxTopology } from "../../components/machines/proxmox/proxmoxTopology.ts";
import { type VmSeed, vmSize } from "../../components/machines/proxmox/proxmoxVm.ts";
import { vmHost } from "../../components/machines/proxmox/vmHost.ts";
import { contentHash } from "../../components/model/contentHash.ts";
import type { Machine } from "../../components/model/machine.ts";
import { addressPlan } from "../../components/network/addressPlan.ts";
import { ProxmoxCsi } from "../../components/platform/proxmoxCsi.ts";
import type { AccountToken } from "./accountToken.ts";
import type { CreateMachinesArgs, PlatformMachines, PlatformResources, ProvenSoftware } from "./platformResources.ts";
import { proxmox } from "./proxmox.ts";
import type { ProxmoxConfig } from "./proxmoxRules.ts";
import { proxmoxToken } from "./proxmoxToken.ts";

export function proxmoxResources(config: ProxmoxConfig): PlatformResources {
  const token = proxmoxToken(config);
  return { token, createMachines: (args) => createMachines(config, token, args) };
}

function createMachines(
  config: ProxmoxConfig,
  token: AccountToken,
  { guard, hasVolumes }: CreateMachinesArgs,
): PlatformMachines {
  const { settings, clusterName, network, image } = config;
  const { endpoint, insecure, vm: shape, storage, bridge, pool, tags, region } = settings;
  const provider = new proxmoxve.Provider(
    `${clusterName}-proxmox`,
    { endpoint, insecure, apiToken: pulumi.secret(token.value) },
    {
      // A preview without a token keeps the token of the state.
      ignoreChanges: token.isPlaceholder ? ["apiToken"] : [],
      envVarMappings: { [proxmoxProxied.variable]: "HTTPS_PROXY" },
    },
  );
  const nodes = proxmoxNodes(config);
  const installer = installerSchematic(config);
  const images = new ProxmoxImages(
    `${clusterName}-image`,
    {
      clusterName,
      talosVersion: config.talosVersion,
      factory: image.factory,
      storage: settings.imageStorage,
      architecture: image.architecture,
      secureBoot: image.secureBoot,
      deadlineSeconds: config.timeouts.images,
      platform: config.platform.talosPlatform(network.addressing),
      installer,
      nodes: nodes.map((node) => ({ ...node, schematic: nodeSchematic(config, node) })),
    },
    { providers: [provider] },
  );
  const servers = new ProxmoxMachines(
    clusterName,
    {
      installer: schematicId(installer),
      clusterName,
      region,
      nodes,
      images: images.images,
      shape,
      storage,
      bridge,
      pool,
      tags,
      vlan: network.vlan?.mode === "access" ? network.vlan.tag : undefined,
      seeds: network.addressing === "nocloud" ? seeds(config) : undefined,
      // Without the agent the listed address is used, and the first gate checks whether the machine there is the expected one.
      leases:
        network.addressing === "dhcp" && shape.agent
          ? {
              apiUrl: endpoint,
              insecure,
              deadlineSeconds: config.timeouts.lease,
              token: token.value,
              isTokenPlaceholder: token.isPlaceholder,
            }
          : undefined,
      protect: config.protect,
      guard,
    },
    { provider },
  );
  const { machines, hosts } = servers;
  return {
    machines,
    // The factory must know the schematic by the time an installer is requested.
    ready: [images, servers],
    patches: Object.fromEntries(
      nodes.map(({ name, vmId, host: listed }) => [
        name,
        pulumi.output(hosts[name] ?? listed).apply((host) => [proxmoxTopology({ region, host, vmId })]),
      ]),
    ),
    ...(hasVolumes && { volumes: volumes(config, machines, provider) }),
  };
}

/** Rules require a VM id for every node, and the address plan has a MAC for every VM. */
function proxmoxNodes(config: ProxmoxConfig): ProxmoxNode[] {
  const { hosts, sizes } = config.settings;
  const macs = new Map(addressPlan(config).map(({ name, mac }) => [name, mac]));
  return config.nodes.map((node) => {
    const { name, role, address, vmId } = node;
    const mac = macs.get(name);
    if (vmId === undefined || mac === undefined) throw new Error(`node '${name}' has no VM id or no MAC`);
    const [size, schematic] = [vmSize(sizes[role], node.size), schematicId(nodeSchematic(config, node))];
    return {
      name,
      role,
      address,
      vmId,
      mac,
      size,
      schematic,
      host: vmHost(node, hosts),
      isHostNamed: node.host !== undefined,
    };
  });
}

function seeds(config: ProxmoxConfig): Record<string, VmSeed> {
  const { nameservers } = config.network;
  return Object.fromEntries(
    addressPlan(config).map(({ name, address, prefixLength, gateway }) => [
      name,
      { address: `${address}/${prefixLength}`, gateway, nameservers },
    ]),
  );
}

/** The driver for volumes has its own account on Proxmox. */
function volumes(
  { clusterName, settings, nodes, csi, charts }: ProxmoxConfig,
  machines: readonly Machine[],
  provider: proxmoxve.Provider,
): ProvenSoftware {
  const { endpoint, insecure, region } = settings;
  const { storage = settings.storage, filesystem, reclaimPolicy } = settings.volumes;
  const where = { storage, filesystem, reclaimPolicy };
  const { tokenId, tokenSecret } = new ProxmoxCsiAccess(
    `${clusterName}-csi-access`,
    {
      clusterName,
      storage,
      vms: nodes.flatMap(({ name, vmId }) => {
        const made = machines.find((machine) => machine.name === name);
        return made === undefined || vmId === undefined ? [] : [{ vmId, machineId: made.machineId }];
      }),
    },
    { provider },
  );
  const [version, place] = [csi.version ?? proxmox.volumes.version, { endpoint, insecure, region }];
  return {
    name: "csi",
    install: (name, opts) => {
      const account = { ...place, tokenId, tokenSecret };
      return new ProxmoxCsi(name, { version, charts: charts.path, account, ...where }, opts);
    },
    triggers: [version, contentHash({ ...place, ...where })],
    secrets: [tokenId, tokenSecret],
    keepsSecrets: false,
  };
}
