// A node of the cluster, and what it is installed to.
import { z } from "zod";
import { size } from "./proxmox.ts";
import { dnsLabel, hostName, ipv4, mac } from "./scalars.ts";

/** Selects the disk to install to by what it is, where its device name may change. All given keys must match. */
const diskSelector = z
  .strictObject({
    model: z.string().optional(),
    serial: z.string().optional(),
    wwid: z.string().optional(),
    busPath: z.string().optional(),
    type: z.enum(["hdd", "ssd", "nvme", "sd"]).optional(),
    /** A size or a comparison, for example `>= 100GB`. */
    size: z
      .string()
      .regex(/^((>=|<=|>|<|==)\s*)?\d+\s?(B|[KMGT]i?B)$/, "must be a size such as '100GB' or '>= 100GB'")
      .optional(),
  })
  .refine((selector) => Object.keys(selector).length > 0, "must name at least one property of the disk");

export const install = z.strictObject({
  /** Device to install to. Default `/dev/sda`; exclusive with `diskSelector`. */
  disk: z.string().startsWith("/dev/", "must be a device such as /dev/sda").optional(),
  /** Selects the device by what it is. Exclusive with `disk`. */
  diskSelector: diskSelector.optional(),
  /** Wipe the disk before installing. Default false. */
  wipe: z.boolean().default(false),
  /** Kernel arguments belong into `image.kernelArgs`; these work only where the boot loader takes its line from the config. */
  extraKernelArgs: z.array(z.string().min(1)).default([]),
  /** Boot with the command line baked into the image. Default: on from Talos 1.12, off before. */
  grubUseUKICmdline: z.boolean().optional(),
});

export const node = z.strictObject({
  /** The node's name: its identity, its hostname and what every message calls it. */
  name: dnsLabel,
  role: z.enum(["controlplane", "worker"]),
  /** The node's own address in `network.nodeCidr`. */
  address: ipv4,
  /** Existing machines: host or address by which the node is reached from here. Default: `address`. */
  reach: hostName.optional(),
  /** Default: derived from the cluster's and the node's name, see docs/addresses.md. */
  mac: mac.optional(),
  /** The machine's UUID, where it is known before. Identity is checked against it. */
  uuid: z
    .guid("must be a UUID")
    .transform((text) => text.toLowerCase())
    .optional(),
  /** Proxmox: the VM's id. */
  vmId: z.int().min(100, "must be 100 or more: Proxmox keeps the ids below").max(999_999_999).optional(),
  /** Proxmox: the host that the VM runs on. Default: `proxmox.hosts` in turn by address. */
  host: z.string().min(1).optional(),
  /** Proxmox: overrides `proxmox.sizes.<role>`. */
  size: size.optional(),
  /** Hetzner: overrides `hetzner.serverTypes.<role>`. */
  serverType: z.string().min(1).optional(),
  /** Hetzner: overrides `hetzner.location`. */
  location: z.string().min(1).optional(),
  /** Overrides the cluster's `install.disk` and `install.diskSelector` for this node. */
  install: install.pick({ disk: true, diskSelector: true }).optional(),
  /** Kubernetes node labels. */
  labels: z.record(z.string(), z.string()).default({}),
  /** Kubernetes node taints, `key: "value:Effect"`. */
  taints: z
    .record(
      z.string(),
      z.string().regex(/^[^:]*:(NoSchedule|PreferNoSchedule|NoExecute)$/, "must be '<value>:<Effect>'"),
    )
    .default({}),
});
