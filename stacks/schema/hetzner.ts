// Settings of the platform Hetzner.
import { z } from "zod";
import { chartVersion, cidr, ipv4 } from "./scalars.ts";

export const hetzner = z.strictObject({
  location: z.string().min(1).default("fsn1"),
  networkZone: z.string().min(1).default("eu-central"),
  /** The private network that holds `network.nodeCidr`. */
  networkCidr: cidr.optional(),
  serverTypes: z
    .strictObject({ controlplane: z.string().min(1).default("cx33"), worker: z.string().min(1).default("cx43") })
    .prefault({}),
  /** Who may reach the Talos and Kubernetes APIs from outside; the program itself is one of them. */
  allowedCidrs: z.array(cidr).default([]),
  /** In front of the control planes. */
  loadBalancer: z
    .strictObject({
      /** Its private address: by it the nodes call the Kubernetes API. */
      address: ipv4,
      type: z.string().min(1).default("lb11"),
      /** Serve the Kubernetes API to everybody by a public address too: Hetzner's firewalls do not cover load balancers. Default false. */
      public: z.boolean().default(false),
    })
    .optional(),
  /** What servers start from. */
  snapshot: z
    .strictObject({
      /** Labels to find it by. Default: those that follow from Talos' version, the schematic and the architecture. */
      labels: z
        .record(z.string(), z.string())
        .refine((labels) => Object.keys(labels).length > 0, "must name at least one label")
        .optional(),
      /** Make it with Packer where there is none. Default false. */
      build: z.boolean().default(false),
    })
    .prefault({}),
  /** Tells Kubernetes which server a node is, and makes load balancers for Services. */
  cloudControllerManager: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Version of the chart hcloud-cloud-controller-manager. */
      version: chartVersion.default("1.25.1"),
    })
    .prefault({}),
});
