// Settings of platform `proxmox`.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { dnsLabel, origin } from "./scalars.ts";

const cores = (least = 1) =>
  z.int().min(least).max(512).meta({ description: "Number of processor cores.", change: "at the next start" });
const memory = (least = 1024) =>
  z.int().min(least).meta({ unit: "MiB", example: 8192, description: "Memory.", change: "at the next start" });
const disk = z.int().min(10).meta({
  unit: "GiB",
  example: 40,
  description: "Size of the disk. It can grow, and never shrinks.",
  change: "no reboot",
});

const ofRole = "`proxmox.sizes` of its role";

/** Of one VM. */
const vmSize = z
  .strictObject({
    cores: cores().optional().meta({ fallback: ofRole }),
    memory: memory().optional().meta({ fallback: ofRole }),
    disk: disk.optional().meta({ fallback: ofRole }),
  })
  .meta({
    fallback: ofRole,
    description: "Size of the VM, if it differs from others of its role.",
  });

const storage = "name of a storage";

export const proxmox = z
  .strictObject({
    endpoint: origin(["https"], "https://<host>:8006").meta({
      description: "The Proxmox API.",
      example: "https://10.0.0.2:8006",
    }),
    insecure: z.boolean().default(false).meta({ description: "Accept the API's self-signed certificate." }),
    hosts: z
      .array(z.string().min(1))
      .min(1, "must name at least one host")
      .meta({
        form: "list of host names",
        description: "Proxmox hosts that the VMs run on.",
        example: ["pve"],
      }),
    storage: z.string().min(1).default("local-lvm").meta({
      form: storage,
      description: "Storage of the VMs' disks.",
      change: "refused",
    }),
    imageStorage: z.string().min(1).default("local").meta({
      form: storage,
      description: "Storage of the Talos images, with the content type `import`.",
    }),
    bridge: z.string().min(1).default("vmbr0").meta({
      form: "name of a bridge",
      description: "Bridge of the hosts that the VMs' network cards are on.",
    }),
    region: dnsLabel.default("proxmox").meta({
      description:
        "Name of the Proxmox cluster on nodes and volumes. Do not change it while there are volumes: the driver would not find them.",
    }),
    volumes: z
      .strictObject({
        storage: z.string().min(1).optional().meta({
          form: storage,
          fallback: "`proxmox.storage`",
          description: "Storage of volumes.",
          change: "refused",
        }),
        filesystem: z.enum(["ext4", "xfs"]).default("ext4").meta({
          description: "Filesystem of volumes.",
          change: "refused",
        }),
        reclaimPolicy: z.enum(["Delete", "Retain"]).default("Delete").meta({
          description: "What happens to a volume when its claim is deleted.",
          change: "refused",
        }),
      })
      .prefault({})
      .meta({ description: "Volumes of the cluster, if `csi` is on ([platform](platform.md#volumes-on-proxmox))." }),
    pool: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, '.', '_' and '-'")
      .optional()
      .meta({
        form: "letters, digits, `.`, `_` and `-`",
        description: "Name of a pool that is created and that the VMs are put into.",
        example: "talos",
      }),
    tags: z
      .array(z.string().regex(/^[a-z0-9_][a-z0-9_.+-]*$/, "must be lower-case letters, digits, '_', '.', '+' and '-'"))
      .default([])
      .meta({
        form: "list of tags",
        description: "Tags of the VMs in addition to the cluster's name and the node's role.",
        example: ["talos"],
      }),
    vm: z
      .strictObject({
        cpu: z.string().min(1).default("x86-64-v2-AES").meta({
          form: "CPU type",
          description:
            "Which processor the VM sees. `host` is fastest, but such a VM cannot be moved to a host with another processor.",
          change: "at the next start",
        }),
        preEnrolledKeys: z.boolean().default(false).meta({
          description: "Put Secure Boot keys on the EFI disk. Only together with `image.secureBoot`.",
        }),
        agent: z.boolean().default(true).meta({
          description:
            "Use the guest agent. Goes with the extension `siderolabs/qemu-guest-agent` in `image.extensions`: both or neither.",
        }),
      })
      .prefault({})
      .meta({ description: "What all VMs have in common." }),
    sizes: z
      .strictObject({
        controlplane: z
          .strictObject({ cores: cores(2), memory: memory(2048), disk })
          .prefault({ cores: 4, memory: 8192, disk: 40 })
          .meta({ description: "Size of control planes. Set all three keys or none." }),
        worker: z
          .strictObject({ cores: cores(), memory: memory(), disk })
          .prefault({ cores: 8, memory: 16384, disk: 100 })
          .meta({ description: "Size of workers. Set all three keys or none." }),
      })
      .prefault({})
      .meta({ description: "Size of the VMs of each role." }),
  })
  .meta({ description: "Settings of platform `proxmox`." });

/** Keys of a node that only platform `proxmox` reads. */
export const proxmoxNode = {
  vmId: z.int().min(100, "must be 100 or more: Proxmox keeps the ids below").max(999_999_999).optional().meta({
    fallback: "required on Proxmox",
    description: "Id of the VM.",
    change: "recreates the machine",
  }),
  host: z.string().min(1).optional().meta({
    fallback: "`proxmox.hosts` in turn by address",
    form: "name of a Proxmox host",
    description: "The host that the VM runs on ([Proxmox](proxmox.md)).",
    change: "moves the VM",
  }),
  size: vmSize.optional(),
} as const;

export type ProxmoxSettings = Settings<typeof proxmox>;
export type ProxmoxNodeSettings = Settings<z.ZodObject<typeof proxmoxNode>>;
