import * as proxmoxve from "@muhlba91/pulumi-proxmoxve";
import * as pulumi from "@pulumi/pulumi";
import type { Machine } from "../../model/machine.ts";
import type { Role } from "../../model/role.ts";
import type { ProxmoxSettings } from "../../model/settings/proxmox.ts";
import { ProxmoxAddress, type ProxmoxAddressArgs } from "./proxmoxAddress.ts";
import { poolComment } from "./proxmoxCreated.ts";
import { proxmoxProviderId } from "./proxmoxTopology.ts";
import { ownSchematic, type VmSeed, type VmShape, type VmSize, vmInputs } from "./proxmoxVm.ts";

export interface ProxmoxNode {
  readonly name: string;
  readonly role: Role;
  readonly address: string;
  readonly mac: string;
  readonly vmId: number;
  /** The Proxmox host that the VM is created on. */
  readonly host: string;
  /** The environment names the host: the VM must be there, and is migrated to it. */
  readonly isHostNamed: boolean;
  readonly size: VmSize;
  /** Id of the schematic of its image. */
  readonly schematic: string;
}

export interface ProxmoxMachinesArgs extends Pick<ProxmoxSettings, "region" | "storage" | "bridge" | "pool" | "tags"> {
  /** Prefix of the VMs' names, and their tag. */
  readonly clusterName: string;
  /** One VM per node. */
  readonly nodes: readonly ProxmoxNode[];
  /** What all VMs have in common. */
  readonly shape: VmShape;
  /** Id of the schematic that nodes are installed from. */
  readonly installer: string;
  /** The VLAN that the VMs' ports are in. */
  readonly vlan?: number | undefined;
  /** The image of each node, by node name. */
  readonly images: Readonly<Record<string, pulumi.Input<string>>>;
  /** The seed of each node that reads one, by node name. */
  readonly seeds?: Readonly<Record<string, VmSeed>> | undefined;
  /** If the VMs get their addresses from a DHCP server: how these are found. */
  readonly leases?: LeaseArgs | undefined;
  /** Make the engine and Proxmox refuse to delete. */
  readonly protect: boolean;
  /** Created before every VM: refuses unsafe changes. */
  readonly guard: pulumi.Resource;
}

export interface LeaseArgs extends Pick<ProxmoxAddressArgs, "apiUrl" | "insecure" | "token" | "deadlineSeconds"> {
  /** Whether the token is a placeholder: then the one in the state is kept. */
  readonly isTokenPlaceholder: boolean;
}

/** VMs on one Proxmox cluster. */
export class ProxmoxMachines extends pulumi.ComponentResource {
  readonly machines: readonly Machine[];
  /** The Proxmox host that each VM is on, by node name. */
  readonly hosts: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: ProxmoxMachinesArgs, opts?: pulumi.ComponentResourceOptions) {
    const { protect } = args;
    super("sluice:machines:ProxmoxMachines", name, {}, { ...opts, protect });

    const pool = args.pool === undefined ? undefined : this.makePool(name, args, args.pool);
    const made = args.nodes.map((node) => ({ node, vm: this.makeVm(name, args, node, pool) }));

    this.hosts = Object.fromEntries(made.map(({ node, vm }) => [node.name, vm.nodeName]));
    this.machines = made.map(({ node, vm }) => ({
      name: node.name,
      role: node.role,
      address: node.address,
      talosAddress: this.addressOf(name, args, node, vm),
      identity: uuidOf(vm).apply((uuid) => ({ mac: node.mac, ...(uuid !== undefined && { uuid }) })),
      providerId: pulumi.output(proxmoxProviderId({ region: args.region, ...node })),
      schematic: vm.smbios.apply((settings) => ownSchematic(settings?.version, args.installer)),
      machineId: machineId(vm),
    }));
    this.registerOutputs();
  }

  /** Known once the VM exists; with DHCP, once it has been found. */
  private addressOf(name: string, { leases }: ProxmoxMachinesArgs, node: ProxmoxNode, vm: proxmoxve.VmLegacy) {
    if (leases === undefined) return vm.id.apply(() => node.address);
    const { isTokenPlaceholder, ...api } = leases;
    const { found } = new ProxmoxAddress(
      `${name}-${node.name}`,
      {
        ...api,
        node: node.name,
        vmId: node.vmId,
        mac: node.mac,
        listed: node.address,
        host: vm.nodeName,
        machineId: machineId(vm),
      },
      // Deleted when addresses become static, even if the machines are protected.
      // With a placeholder token, a preview uses the one in the state.
      { parent: this, protect: false, ignoreChanges: isTokenPlaceholder ? ["token"] : [] },
    );
    return found;
  }

  private makePool(name: string, { clusterName }: ProxmoxMachinesArgs, poolId: string) {
    const comment = poolComment(clusterName);
    return new proxmoxve.PoolLegacy(`${name}-pool`, { poolId, comment }, { parent: this });
  }

  private makeVm(name: string, args: ProxmoxMachinesArgs, node: ProxmoxNode, pool: proxmoxve.PoolLegacy | undefined) {
    const { clusterName, shape, installer, storage, bridge, vlan, tags, protect } = args;
    const image = args.images[node.name];
    if (image === undefined) throw new Error(`node '${node.name}' has no image`);
    return new proxmoxve.VmLegacy(
      `${name}-${node.name}`,
      vmInputs({
        clusterName,
        shape,
        installer,
        storage,
        bridge,
        vlan,
        tags,
        protect,
        image,
        ...node,
        seed: args.seeds?.[node.name],
        pool: pool?.poolId,
      }),
      {
        parent: this,
        dependsOn: [args.guard],
        // The new VM has the id, the MAC and the address of the old one.
        deleteBeforeReplace: true,
        ignoreChanges: [
          // The plugin reads back nothing if it has written nothing, and would write it again in every update.
          "disks[0].speed",
          // A disk is imported only at creation: Talos is upgraded in place.
          "disks[0].importFrom",
          // Kept as a description of what the disk was made from.
          "smbios.version",
          // If the environment does not name the host, a migrated VM stays where it is, even when hosts are added.
          ...(node.isHostNamed ? [] : ["nodeName"]),
        ],
      },
    );
  }
}

function machineId(vm: proxmoxve.VmLegacy): pulumi.Output<string> {
  return pulumi.all([vm.id, uuidOf(vm)]).apply(([id, uuid]) => `${id}/${uuid ?? ""}`);
}

/** The machine's UUID, which the plugin generated with the VM. */
function uuidOf({ smbios }: proxmoxve.VmLegacy): pulumi.Output<string | undefined> {
  return smbios.apply((settings) => settings?.uuid?.toLowerCase());
}
