// One node of the cluster, on any platform. Keys that only one platform reads are with that platform's settings.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { install } from "./image.ts";
import { dnsLabel, ipv4, mac, role, uuid } from "./scalars.ts";

export const node = z.strictObject({
  name: dnsLabel
    .refine((name) => name !== "localhost", "must not be localhost, which leads each machine to itself")
    .meta({
      description: "The node's identity and hostname. Another name is another node ([change](change.md)).",
      example: "cp-1",
    }),
  role: role.meta({ description: "Whether the node runs etcd and the control plane of Kubernetes." }),
  address: ipv4.meta({
    description: "The node's own address, in `network.nodeCidr`.",
    example: "10.0.0.11",
    change: "refused",
  }),
  mac: mac.optional().meta({
    fallback: "on Proxmox derived from the names ([addresses](addresses.md))",
    description: "MAC address of the NIC that has `address`.",
  }),
  uuid: uuid.optional().meta({
    description: "The machine's UUID, if it is known in advance. A machine with another UUID is refused.",
    example: "4c4c4544-0042-3510-8054-b9c04f395931",
  }),
  install: install.pick({ disk: true, diskSelector: true }).optional().meta({
    fallback: "`install`",
    description: "The disk of this node in place of the cluster's: `disk` or `diskSelector`, as in `install`.",
    sameAs: "install",
    change: "new installations only",
  }),
  labels: z
    .record(z.string(), z.string())
    .default({})
    .meta({
      form: "map of text",
      description: "Labels of the node in Kubernetes.",
      example: { "example.org/disk": "fast" },
      change: "no reboot",
    }),
  taints: z
    .record(
      z.string(),
      z
        .string()
        .regex(
          /^[^:]*:(NoSchedule|PreferNoSchedule|NoExecute)$/,
          "must be '<value>:<Effect>' such as 'media:NoSchedule', or ':<Effect>' without a value",
        ),
    )
    .default({})
    .meta({
      form: "map of `<value>:<Effect>`",
      description: "Taints of the node in Kubernetes. A worker gets them when it registers, and not later.",
      example: { dedicated: "media:NoSchedule" },
      change: "no reboot",
    }),
});

export type NodeSettings = Settings<typeof node>;
