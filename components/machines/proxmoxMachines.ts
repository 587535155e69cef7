import * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "./machine.ts";
import type { Role } from "./node.ts";
import { ProxmoxAddress, type ProxmoxAddressArgs } from "./proxmoxAddress.ts";
import { proxmoxProviderId } from "./proxmoxTopology.ts";
import { ownSchematic, type VmSeed, type VmShape, type VmSize, vmInputs } from "./proxmoxVm.ts";

export interface ProxmoxNode {
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  readonly mac: string;
  readonly vmId: number;
  /** The Proxmox host that the VM is made on. */
  readonly host: string;
  /** The person named the host: there the VM is to be, and it is moved to it. */
  readonly isHostNamed: boolean;
  readonly size: VmSize;
  /** Id of the schematic that its image is made from. */
  readonly schematic: string;
}

export interface ProxmoxMachinesArgs {
  /** VMs are called after it, and tagged with it. */
  readonly clusterName: string;
  /** What the Proxmox cluster is called. */
  readonly region: string;
  /** One VM each. */
  readonly nodes: readonly ProxmoxNode[];
  /** What all VMs have in common. */
  readonly shape: VmShape;
  /** Id of the schematic that nodes are installed from. */
  readonly installer: string;
  /** For the VMs' disks. */
  readonly storage: string;
  /** The hosts' bridge that the VMs are on. */
  readonly bridge: string;
  /** The VLAN that the VMs' ports are in. */
  readonly vlan?: number | undefined;
  /** The image of each node, by its name. */
  readonly images: Readonly<Record<string, pulumi.Input<string>>>;
  /** The seed of each node that reads one, by its name. */
  readonly seeds?: Readonly<Record<string, VmSeed>> | undefined;
  /** Made for the VMs, with this name. */
  readonly pool?: string | undefined;
  /** Besides the cluster's name and the role. */
  readonly tags: readonly string[];
  /** Where the VMs have their addresses from a DHCP server: how these are found. */
  readonly leases?: LeaseArgs | undefined;
  /** Have the engine and Proxmox refuse to delete. */
  readonly protect: boolean;
  /** Stands before every VM: refuses what may not be done to it. */
  readonly changes: pulumi.Resource;
}

export interface LeaseArgs extends Pick<ProxmoxAddressArgs, "endpoint" | "insecure" | "token" | "deadline"> {
  /** The token is none: what the state has of it is to stay. */
  readonly isTokenStandIn: boolean;
}

/** VMs on one Proxmox cluster. */
export class ProxmoxMachines extends pulumi.ComponentResource {
  readonly machines: readonly Machine[];
  /** The Proxmox host that each VM is on, by the node's name. */
  readonly hosts: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: ProxmoxMachinesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { protect } = args;
    super("sluice:machines:ProxmoxMachines", name, {}, { ...opts, protect });

    const pool = args.pool === undefined ? undefined : this.makePool(name, args, args.pool);
    const made = args.nodes.map((node) => ({ node, vm: this.makeVm(name, args, node, pool) }));

    this.hosts = Object.fromEntries(made.map(({ node, vm }) => [node.name, vm.nodeName]));
    this.machines = made.map(({ node, vm }) => ({
      ...{ name: node.name, role: node.role, address: node.address },
      reach: this.addressOf(name, args, node, vm),
      identity: uuidOf(vm).apply((uuid) => ({ mac: node.mac, ...(uuid !== undefined && { uuid }) })),
      providerId: pulumi.output(proxmoxProviderId({ region: args.region, ...node })),
      schematic: vm.smbios.apply((settings) => ownSchematic(settings?.version, args.installer)),
      machineId: machineId(vm),
    }));
    this.registerOutputs();
  }

  /** Known when the VM is there; with DHCP when it has been found. */
  private addressOf(name: string, { leases }: ProxmoxMachinesArgs, node: ProxmoxNode, vm: proxmoxve.VmLegacy) {
    if (leases === undefined) return vm.id.apply(() => node.address);
    const { isTokenStandIn, ...api } = leases;
    const { found } = new ProxmoxAddress(
      `${name}-${node.name}`,
      {
        ...{ ...api, node: node.name, vmId: node.vmId, mac: node.mac, listed: node.address },
        ...{ host: vm.nodeName, machineId: machineId(vm) },
      },
      // It goes when addresses become static, whatever is protected.
      // Without a token of one's own, what the state has serves a preview.
      { parent: this, protect: false, ignoreChanges: isTokenStandIn ? ["token"] : [] },
    );
    return found;
  }

  private makePool(name: string, { clusterName }: ProxmoxMachinesArgs, poolId: string) {
    const comment = `The Talos cluster ${clusterName}, made by Sluice`;
    return new proxmoxve.PoolLegacy(`${name}-pool`, { poolId, comment }, { parent: this });
  }

  private makeVm(name: string, args: ProxmoxMachinesArgs, node: ProxmoxNode, pool: proxmoxve.PoolLegacy | undefined) {
    const { clusterName, shape, installer, storage, bridge, vlan, tags, protect } = args;
    const image = args.images[node.name];
    if (image === undefined) throw new Error(`node '${node.name}' has no image`);
    return new proxmoxve.VmLegacy(
      `${name}-${node.name}`,
      vmInputs({
        ...{ clusterName, shape, installer, storage, bridge, vlan, tags, protect, image },
        ...node,
        seed: args.seeds?.[node.name],
        pool: pool?.poolId,
      }),
      {
        parent: this,
        dependsOn: [args.changes],
        // The new VM has the id, the MAC and the address of the old one.
        deleteBeforeReplace: true,
        ignoreChanges: [
          // The plugin reads back none where it has written none, and would write it again in every update.
          "disks[0].speed",
          // A disk is imported when it is made: Talos is upgraded in place.
          "disks[0].importFrom",
          // So it says what the disk was made from.
          "smbios.version",
          // Where nobody named the host, a VM that was moved stays where it was moved to, also when there are more hosts.
          ...(node.isHostNamed ? [] : ["nodeName"]),
        ],
      },
    );
  }
}

function machineId(vm: proxmoxve.VmLegacy): pulumi.Output<string> {
  return pulumi.all([vm.id, uuidOf(vm)]).apply(([id, uuid]) => `${id}/${uuid ?? ""}`);
}

/** The machine's UUID as the plugin made it with the VM. */
function uuidOf({ smbios }: proxmoxve.VmLegacy): pulumi.Output<string | undefined> {
  return smbios.apply((settings) => settings?.uuid?.toLowerCase());
}
