// Settings of platform `hetzner`.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { chartVersion, cidr, ipv4 } from "./scalars.ts";

export const hetzner = z
  .strictObject({
    location: z.string().min(1).default("fsn1").meta({
      form: "location",
      description: "Where the servers and the load balancer are.",
      change: "recreates the machine",
    }),
    networkZone: z.string().min(1).default("eu-central").meta({
      form: "network zone",
      description: "Network zone of the private network. All locations must be in it.",
    }),
    networkCidr: cidr.optional().meta({
      fallback: "`network.nodeCidr`",
      description: "Range of the private network, which contains `network.nodeCidr`.",
      example: "10.0.0.0/16",
    }),
    serverTypes: z
      .strictObject({
        controlplane: z.string().min(1).default("cx33").meta({
          form: "server type",
          description:
            "Type of control planes. Hetzner sometimes has none of these left (`resource_unavailable`): `cpx32` is as large and costs more.",
          change: "off and on",
        }),
        worker: z.string().min(1).default("cx43").meta({
          form: "server type",
          description: "Type of workers. If there are none left, `cpx42` is as large.",
          change: "off and on",
        }),
      })
      .prefault({})
      .meta({ description: "Type of the servers of each role." }),
    allowedCidrs: z
      .array(cidr)
      .default([])
      .meta({
        form: "list of IPv4 ranges",
        description:
          "Who may reach the Talos and Kubernetes APIs from outside. Must include the address that Sluice is run from; an empty list is refused.",
        example: ["203.0.113.0/24"],
        change: "no reboot",
      }),
    loadBalancer: z
      .strictObject({
        address: ipv4.meta({
          description: "Its address in the private network, by which nodes call the Kubernetes API.",
          example: "10.0.1.5",
        }),
        type: z
          .string()
          .min(1)
          .default("lb11")
          .meta({ form: "load balancer type", description: "Type of the load balancer." }),
        public: z.boolean().default(false).meta({
          description:
            "Serve the Kubernetes API to everybody by a public address too, past `allowedCidrs`: Hetzner's firewalls do not cover load balancers.",
        }),
      })
      .optional()
      .meta({ description: "A load balancer in front of the control planes." }),
    placementGroups: z.boolean().default(true).meta({
      description:
        "Keep the servers on different hosts, by placement groups of ten neighbouring addresses. If `false`, a server stays in the group that it is in, or in none.",
    }),
    snapshot: z
      .strictObject({
        labels: z
          .record(z.string(), z.string())
          .refine((labels) => Object.keys(labels).length > 0, "must name at least one label")
          .optional()
          .meta({
            form: "map of text",
            fallback: "those of `talosVersion` and `image` ([Hetzner](hetzner.md))",
            description: "Labels to find the snapshot by.",
            change: "new installations only",
          }),
        build: z.boolean().default(false).meta({ description: "Make the snapshot with Packer if there is none." }),
      })
      .prefault({})
      .meta({ description: "What servers start from." }),
    cloudControllerManager: z
      .strictObject({
        enabled: z.boolean().default(true).meta({
          description: "Report to Kubernetes which server each node is, and create load balancers for Services.",
        }),
        version: chartVersion.default("1.25.1").meta({
          description: "Version of the chart `hcloud-cloud-controller-manager`.",
        }),
      })
      .prefault({})
      .meta({ description: "Hetzner's cloud controller manager." }),
  })
  .meta({ description: "Settings of platform `hetzner`." });

/** Keys of a node that only platform `hetzner` reads. */
export const hetznerNode = {
  serverType: z.string().min(1).optional().meta({
    form: "server type",
    fallback: "`hetzner.serverTypes`",
    description: "Type of the server.",
    example: "cx53",
    change: "off and on",
  }),
  location: z.string().min(1).optional().meta({
    form: "location",
    fallback: "`hetzner.location`",
    description: "Where the server is.",
    example: "nbg1",
    change: "recreates the machine",
  }),
} as const;

export type HetznerSettings = Settings<typeof hetzner>;
export type HetznerNodeSettings = Settings<z.ZodObject<typeof hetznerNode>>;
