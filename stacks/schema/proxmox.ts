// Settings of the platform Proxmox.
import { z } from "zod";
import { dnsLabel } from "./scalars.ts";

export const proxmox = z.strictObject({
  /** The Proxmox API. */
  endpoint: z.string().regex(/^https:\/\/[^/]+\/?$/, "must be of the form https://<host>:8006"),
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
  vm: z
    .strictObject({
      machine: z.string().default("q35"),
      bios: z.string().default("ovmf"),
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
        .strictObject({ cores: z.int().min(2), memory: z.int().min(2048), disk: z.int().min(10) })
        .prefault({ cores: 4, memory: 8192, disk: 40 }),
      worker: z
        .strictObject({ cores: z.int().min(1), memory: z.int().min(1024), disk: z.int().min(10) })
        .prefault({ cores: 8, memory: 16384, disk: 100 }),
    })
    .prefault({}),
});
