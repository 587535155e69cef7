// What a node's VM is made of (S2.5).
import type { VmLegacyArgs } from "@muhlba91/pulumi-proxmoxve";
import type { Input } from "@pulumi/pulumi";
import type { Role } from "./node.ts";

export interface VmSize {
  readonly cores: number;
  /** MiB. */
  readonly memory: number;
  /** GiB. */
  readonly disk: number;
}

/** What a node's entry says of its size, over what its role has. */
export function vmSize(ofRole: VmSize, own: Readonly<Partial<Record<keyof VmSize, number | undefined>>> = {}): VmSize {
  const { cores = ofRole.cores, memory = ofRole.memory, disk = ofRole.disk } = own;
  return { cores, memory, disk };
}

/** What all VMs of a cluster have in common. */
export interface VmShape {
  readonly machine: string;
  readonly bios: string;
  readonly cpu: string;
  readonly efiDisk: boolean;
  readonly preEnrolledKeys: boolean;
  readonly scsiHardware: string;
  readonly networkModel: string;
  readonly balloon: number;
  readonly agent: boolean;
  readonly onBoot: boolean;
}

export interface VmArgs {
  /** The VM is called after it, and tagged with it. */
  readonly clusterName: string;
  /** The node's. */
  readonly name: string;
  /** A tag of the VM; control planes start first. */
  readonly role: Role;
  /** What Proxmox knows it by. Another one is another VM. */
  readonly vmId: number;
  /** The Proxmox host that it is made on. */
  readonly host: string;
  /** Of its only NIC. */
  readonly mac: string;
  /** Written to a VM that runs, and true from its next start on. */
  readonly size: VmSize;
  /** What all VMs have in common. */
  readonly shape: VmShape;
  /** For the disks. */
  readonly storage: string;
  /** Id of the image in Proxmox. */
  readonly image: Input<string>;
  /** Id of the schematic that the image is made from. */
  readonly schematic: string;
  /** Id of the schematic that nodes are installed from. */
  readonly installer: string;
  /** The host's bridge that the NIC is on. */
  readonly bridge: string;
  /** That the port is in, and the machine does not see. */
  readonly vlan: number | undefined;
  /** For the machine's seed, where it reads one. */
  readonly seed: VmSeed | undefined;
  /** That it is put into. */
  readonly pool: Input<string> | undefined;
  /** Besides the cluster's name and the role. */
  readonly tags: readonly string[];
  /** Have Proxmox refuse to delete it. */
  readonly protect: boolean;
}

export interface VmSeed {
  /** With the length of the prefix. */
  readonly address: string;
  readonly gateway: string | undefined;
  readonly nameservers: readonly string[];
}

/** What a VM says of itself for as long as it is: what it was made from. */
export function madeFrom({ installer, schematic }: Pick<VmArgs, "installer" | "schematic">): string {
  return `${installer}/${schematic}`;
}

/** The schematic that a VM of this image may run: its own, as long as that is the installer's but for META. */
export function ownSchematic(made: string | undefined, installer: string): string {
  const [then, own = ""] = made?.split("/") ?? [];
  return then === installer ? own : "";
}

/** After the host has started: workers find an API server then. */
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
    machine: shape.machine,
    bios: shape.bios,
    ...(shape.efiDisk && {
      efiDisk: { datastoreId: storage, type: "4m", preEnrolledKeys: shape.preEnrolledKeys, fileFormat: "raw" },
    }),
    operatingSystem: { type: "l26" },
    cpu: { cores: size.cores, type: shape.cpu },
    memory: { dedicated: size.memory, floating: shape.balloon },
    scsiHardware: shape.scsiHardware,
    disks: [
      {
        ...{ interface: "scsi0", datastoreId: storage, importFrom: vm.image, size: size.disk },
        ...{ fileFormat: "raw", iothread: true, discard: "on", ssd: true },
      },
    ],
    bootOrders: ["scsi0"],
    // Without a word the plugin puts the host's own drive in, for which an account needs a console on the host.
    cdrom: { fileId: "none" },
    networkDevices: [
      {
        bridge: vm.bridge,
        model: shape.networkModel,
        macAddress: vm.mac.toUpperCase(), // as Proxmox writes it
        ...(vm.vlan !== undefined && { vlanId: vm.vlan }),
      },
    ],
    ...(vm.seed !== undefined && { initialization: initialization(vm.seed, storage) }),
    // The UUID is not given: the plugin makes one with each VM, and by that a VM made anew is told from the one before it.
    smbios: { serial: `${vm.clusterName}-${vm.name}`, version: madeFrom(vm) },
    // Nobody waits for the agent here: where it matters it has a deadline of its own and says what it waits for.
    agent: { enabled: shape.agent, timeout: "5s", waitForIp: { disabled: true } },
    onBoot: shape.onBoot,
    startup: { order: startOrder[vm.role] },
    started: true,
    protection: vm.protect,
    // A node is drained and leaves etcd before its VM goes. What is left is nothing to wait for, and may not answer any more.
    stopOnDestroy: true,
    migrate: true,
    // Nodes reboot one at a time, with the cluster well in between, and the plugin knows nothing of that.
    rebootAfterUpdate: false,
  };
}

function initialization({ address, gateway, nameservers }: VmSeed, storage: string) {
  return {
    // Of a format the plugin reads nothing back, and would move the drive in the next update.
    ...{ datastoreId: storage, interface: "ide2" },
    ipConfigs: [{ ipv4: { address, ...(gateway !== undefined && { gateway }) } }],
    dns: { servers: [...nameservers] },
  };
}
