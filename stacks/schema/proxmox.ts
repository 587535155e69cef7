// Settings of the platform Proxmox.
import { z } from "zod";
import { dnsLabel, origin } from "./scalars.ts";

const cores = z.int().min(1);
/** MiB. */
const memory = z.int().min(1024);
/** GiB. */
const disk = z.int().min(10);

/** Of one VM, in place of what its role has. */
export const size = z.strictObject({
  cores: cores.optional(),
  memory: memory.optional(),
  disk: disk.optional(),
});

export const proxmox = z.strictObject({
  /** The Proxmox API. */
  endpoint: origin(["https"], "must be of the form https://<host>:8006"),
  /** Accept the API's self-signed certificate. */
  insecure: z.boolean().default(false),
  /** Proxmox hosts that carry the VMs. */
  hosts: z.array(z.string().min(1)).min(1, "must name at least one host"),
  /** Storage for VM disks. */
  storage: z.string().min(1).default("local-lvm"),
  /** Storage with content type `import` for the Talos image. */
  imageStorage: z.string().min(1).default("local"),
  bridge: z.string().min(1).default("vmbr0"),
  /** What the Proxmox cluster is called on nodes and volumes. To change it later is to lose sight of the volumes there are. */
  region: dnsLabel.default("proxmox"),
  /** Volumes of the cluster, where `csi` is on. */
  volumes: z
    .strictObject({
      /** The storage that they lie on. Default: that of VM disks. */
      storage: z.string().min(1).optional(),
      filesystem: z.enum(["ext4", "xfs"]).default("ext4"),
      /** What becomes of a volume when its claim is deleted. */
      reclaimPolicy: z.enum(["Delete", "Retain"]).default("Delete"),
    })
    .prefault({}),
  /** A pool of this name is made, and the VMs are put into it. Default: none. */
  pool: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, '.', '_' and '-'")
    .optional(),
  /** Tags of the VMs, beside the cluster's name and the node's role. */
  tags: z
    .array(z.string().regex(/^[a-z0-9_][a-z0-9_.+-]*$/, "must be lower-case letters, digits, '_', '.', '+' and '-'"))
    .default([]),
  vm: z
    .strictObject({
      machine: z.string().default("q35"),
      bios: z.string().default("ovmf"),
      /** What the VM sees of the host's processor: `host` is fastest, and cannot be moved between unlike hosts. */
      cpu: z.string().min(1).default("x86-64-v2-AES"),
      efiDisk: z.boolean().default(true),
      /** Secure Boot keys on the EFI disk: only together with `image.secureBoot`. */
      preEnrolledKeys: z.boolean().default(false),
      scsiHardware: z.string().default("virtio-scsi-single"),
      networkModel: z.string().default("virtio"),
      /** MiB that the balloon device may take back; Talos does not support it, so it must be 0. */
      balloon: z.int().min(0).default(0),
      agent: z.boolean().default(true),
      onBoot: z.boolean().default(true),
    })
    .prefault({}),
  sizes: z
    .strictObject({
      controlplane: z
        .strictObject({ cores: z.int().min(2), memory: z.int().min(2048), disk })
        .prefault({ cores: 4, memory: 8192, disk: 40 }),
      worker: z.strictObject({ cores, memory, disk }).prefault({ cores: 8, memory: 16384, disk: 100 }),
    })
    .prefault({}),
});
