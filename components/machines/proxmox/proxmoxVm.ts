// The hardware of a node's VM (S2.5).
import type { VmLegacyArgs } from "@muhlba91/pulumi-proxmoxve";
import type { Input } from "@pulumi/pulumi";
import type { Role } from "../../model/role.ts";
import type { ProxmoxNodeSettings, ProxmoxSettings } from "../../model/settings/proxmox.ts";
import { fixedShape } from "./fixedShape.ts";

export type VmSize = ProxmoxSettings["sizes"][Role];

/** The size in a node's own entry, completed with that of its role. */
export function vmSize(ofRole: VmSize, own: ProxmoxNodeSettings["size"] = {}): VmSize {
  const { cores = ofRole.cores, memory = ofRole.memory, disk = ofRole.disk } = own;
  return { cores, memory, disk };
}

/** What all VMs of a cluster have in common, besides the fixed hardware. */
export type VmShape = ProxmoxSettings["vm"];

export interface VmArgs {
  /** Prefix of the VM's name, and its tag. */
  readonly clusterName: string;
  /** The node's name. */
  readonly name: string;
  /** A tag of the VM; control planes start first. */
  readonly role: Role;
  /** The VM's id. Another id is another VM. */
  readonly vmId: number;
  /** The Proxmox host that it is created on. */
  readonly host: string;
  /** The MAC address of its only NIC. */
  readonly mac: string;
  /** Written to a running VM; takes effect at its next start. */
  readonly size: VmSize;
  /** What all VMs have in common. */
  readonly shape: VmShape;
  /** The storage of the disks. */
  readonly storage: string;
  /** Id of the image in Proxmox. */
  readonly image: Input<string>;
  /** Id of the schematic of the image. */
  readonly schematic: string;
  /** Id of the schematic of the installer. */
  readonly installer: string;
  /** The host's bridge that the NIC is connected to. */
  readonly bridge: string;
  /** The VLAN of the port, which the machine does not see. */
  readonly vlan: number | undefined;
  /** The storage of the machine's seed, if it reads one. */
  readonly seed: VmSeed | undefined;
  /** The pool that it is added to. */
  readonly pool: Input<string> | undefined;
  /** In addition to the cluster's name and the role. */
  readonly tags: readonly string[];
  /** Make Proxmox refuse to delete it. */
  readonly protect: boolean;
}

export interface VmSeed {
  /** With prefix length. */
  readonly address: string;
  readonly gateway: string | undefined;
  readonly nameservers: readonly string[];
}

/** The part of a VM's description that never changes: what it was made from. */
export function madeFrom({ installer, schematic }: Pick<VmArgs, "installer" | "schematic">): string {
  return `${installer}/${schematic}`;
}

/** The schematic that a VM of this image may run: its own, if that differs from the installer's only in META. */
export function ownSchematic(made: string | undefined, installer: string): string {
  const [then, own = ""] = made?.split("/") ?? [];
  return then === installer ? own : "";
}

/** Startup order after the host has booted: workers find an API server then. */
const startOrder: Readonly<Record<Role, number>> = { controlplane: 1, worker: 2 };

export function vmInputs(vm: VmArgs): VmLegacyArgs {
  const { shape, size, storage } = vm;
  return {
    name: `${vm.clusterName}-${vm.name}`,
    description: `Node ${vm.name} of the Talos cluster ${vm.clusterName}, made by Sluice`,
    vmId: vm.vmId,
    nodeName: vm.host,
    tags: [...new Set([vm.clusterName, vm.role, ...vm.tags])].sort(), // Proxmox sorts them
    ...(vm.pool !== undefined && { poolId: vm.pool }),
    machine: fixedShape.machine.value,
    bios: fixedShape.bios.value,
    efiDisk: { datastoreId: storage, type: "4m", preEnrolledKeys: shape.preEnrolledKeys, fileFormat: "raw" },
    operatingSystem: { type: "l26" },
    cpu: { cores: size.cores, type: shape.cpu },
    memory: { dedicated: size.memory, floating: fixedShape.balloon.value },
    scsiHardware: fixedShape.scsiHardware.value,
    disks: [
      {
        interface: "scsi0",
        datastoreId: storage,
        importFrom: vm.image,
        size: size.disk,
        fileFormat: "raw",
        iothread: true,
        discard: "on",
        ssd: true,
      },
    ],
    bootOrders: ["scsi0"],
    // Without this entry the plugin adds the host's own CD drive, for which an account needs console access to the host.
    cdrom: { fileId: "none" },
    networkDevices: [
      {
        bridge: vm.bridge,
        model: fixedShape.networkModel.value,
        macAddress: vm.mac.toUpperCase(), // as Proxmox writes it
        ...(vm.vlan !== undefined && { vlanId: vm.vlan }),
      },
    ],
    ...(vm.seed !== undefined && { initialization: initialization(vm.seed, storage) }),
    // The UUID is not set: the plugin generates one with each VM, which distinguishes a recreated VM from the one before it.
    smbios: { serial: `${vm.clusterName}-${vm.name}`, version: madeFrom(vm) },
    // Nothing waits for the agent here: where it matters, a resource with its own deadline waits and reports why.
    agent: { enabled: shape.agent, timeout: "5s", waitForIp: { disabled: true } },
    onBoot: fixedShape.onBoot.value,
    startup: { order: startOrder[vm.role] },
    started: true,
    protection: vm.protect,
    // A node is drained and leaves etcd before its VM is deleted. There is nothing left to wait for, and the VM may not answer any more.
    stopOnDestroy: true,
    migrate: true,
    // Nodes reboot one at a time, and the cluster is healthy in between; the plugin does not know about that.
    rebootAfterUpdate: false,
  };
}

function initialization({ address, gateway, nameservers }: VmSeed, storage: string) {
  return {
    // The plugin does not read the format back, and would move the drive in the next update.
    datastoreId: storage,
    interface: "ide2",
    ipConfigs: [{ ipv4: { address, ...(gateway !== undefined && { gateway }) } }],
    dns: { servers: [...nameservers] },
  };
}
