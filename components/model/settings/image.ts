// The image that machines boot, and the disk that Talos is installed to.
import { z } from "zod";
import type { Settings } from "./documentation.ts";

export const image = z
  .strictObject({
    extensions: z
      .array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/, "must be '<owner>/<extension>'"))
      .default([])
      .meta({
        form: "list of `<owner>/<extension>`",
        example: ["siderolabs/qemu-guest-agent"],
        description: "Official system extensions of the image.",
        change: "upgrades the nodes",
      }),
    kernelArgs: z
      .array(z.string().min(1))
      .default([])
      .meta({
        form: "list of kernel arguments",
        example: ["console=ttyS0"],
        description: "Kernel arguments of the image. They are part of its schematic.",
        change: "upgrades the nodes",
      }),
    secureBoot: z.boolean().default(false).meta({
      description: "Use images that are signed for Secure Boot. Not on Hetzner.",
      change: "new installations only",
    }),
    architecture: z.enum(["amd64", "arm64"]).default("amd64").meta({
      description: "Processor architecture of the machines. `arm64` is possible on Hetzner and on existing machines.",
      change: "new installations only",
    }),
    factory: z
      .string()
      .refine(
        (text) => /^[a-z0-9.-]+(:\d+)?$/.test(text) && URL.canParse(`https://${text}`),
        "must be a host name without scheme or path",
      )
      .refine((text) => !/^(localhost|127\.)/.test(text), "must be a host that nodes reach, and not the node itself")
      .default("factory.talos.dev")
      .meta({
        form: "host name",
        description:
          "Host of the Image Factory. To reach it from here by another address, such as that of a proxy, set `IMAGE_FACTORY_ENDPOINT` in your environment; labs do so.",
        change: "new installations only",
      }),
  })
  .meta({ description: "Extensions, kernel arguments and architecture of the Talos image." });

/** By the names of the kernel and of udev. */
function isPartition(device: string): boolean {
  return /^\/dev\/([shvx]d[a-z]+\d+|xvd[a-z]+\d+|(nvme\d+n\d+|mmcblk\d+|nbd\d+)p\d+|disk\/(.*-part\d+|by-(uuid|label|part\w+)\/.*))$/.test(
    device,
  );
}

/** What is no disk. Names of the kernel have no capitals. */
function isNoDisk(device: string): boolean {
  return /^\/dev\/((loop|sr|ram|zram|fd)\d|(null|zero|full|u?random)$|[^/]*[A-Z][^/]*$)/.test(device);
}

const pattern = (description: string, example: string) =>
  z.string().optional().meta({ form: "text; `*` matches anything", description, example });

/** For machines whose device names may change between boots. */
const diskSelector = z
  .strictObject({
    model: pattern("Model of the disk.", "Samsung SSD*"),
    serial: pattern("Serial number of the disk.", "S64DNX0T*"),
    wwid: pattern("World Wide Identifier of the disk.", "eui.0025385*"),
    busPath: pattern("Path of the disk on its bus.", "/pci0000:00/*"),
    type: z.enum(["hdd", "ssd", "nvme", "sd"]).optional().meta({ description: "Kind of disk." }),
    size: z
      .string()
      .regex(/^((>=|<=|>|<|==)\s*)?\d+\s?(B|[KMGT]i?B)$/, "must be a size such as '100GB' or '>= 100GB'")
      .optional()
      .meta({
        form: "size, or comparison with one",
        example: ">= 100GB",
        description: "Size of the disk. Without an operator it must be exact.",
      }),
  })
  .refine((selector) => Object.keys(selector).length > 0, "must name at least one property of the disk")
  .meta({
    description:
      "Selects the disk to install to by its properties; all that are given must match. Not together with `disk`.",
    change: "new installations only",
  });

export const install = z
  .strictObject({
    disk: z
      .string()
      .regex(/^\/dev\/[A-Za-z0-9][\w./:+-]*$/, "must be a device such as /dev/sda")
      .refine((text) => !isPartition(text), "must be a whole disk such as /dev/sda, not a partition of one")
      .refine((text) => !isNoDisk(text), "must be a disk such as /dev/sda")
      .optional()
      .meta({
        form: "device",
        example: "/dev/nvme0n1",
        fallback: "`/dev/sda`, unless there is a `diskSelector`",
        description: "Device to install to. Not together with `diskSelector`.",
        change: "new installations only",
      }),
    diskSelector: diskSelector.optional(),
    wipe: z.boolean().default(false).meta({
      description: "Wipe the disk before installing.",
      change: "new installations only",
    }),
    extraKernelArgs: z.array(z.string().min(1)).default([]).meta({
      form: "list of kernel arguments",
      description:
        "Kernel arguments that have an effect only if the boot loader takes its command line from the config; otherwise use `image.kernelArgs`.",
      change: "new installations only",
    }),
    grubUseUKICmdline: z.boolean().optional().meta({
      fallback: "`true` from Talos 1.12 on, `false` before",
      description: "Boot with the command line that is built into the image.",
      change: "new installations only",
    }),
  })
  .meta({ description: "Which disk Talos is installed to, and how." });

export type ImageSettings = Settings<typeof image>;
export type InstallSettings = Settings<typeof install>;
