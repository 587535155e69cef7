// The network of the cluster.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { isDnsName } from "./hostName.ts";
import { cidr, ipv4, origin } from "./scalars.ts";

const change = "no reboot";
const fixedFromTheStart =
  "Choose it before the first `up`: Kubernetes does not move a running cluster to another range.";

export const network = z
  .strictObject({
    nodeCidr: cidr.meta({ description: "The network that the nodes are in.", example: "10.0.0.0/24" }),
    gateway: ipv4.optional().meta({
      description: "Default gateway of the nodes. Required if addresses are static.",
      example: "10.0.0.1",
      change,
    }),
    vip: ipv4.optional().meta({
      description: "An address in the node network that the control planes share. It exists from bootstrap on.",
      needsLayer2: true,
      example: "10.0.0.20",
      change,
    }),
    vipBy: z.enum(["talos", "kube-vip"]).default("talos").meta({
      description: "Which program provides the VIP ([network](network.md)).",
      change,
    }),
    podCidr: cidr.default("10.244.0.0/16").meta({ description: `Addresses of pods. ${fixedFromTheStart}` }),
    serviceCidr: cidr.default("10.96.0.0/12").meta({ description: `Addresses of Services. ${fixedFromTheStart}` }),
    dnsDomain: z
      .string()
      .refine((text) => isDnsName(text) && !/(^|\.)\d+$/.test(text), "must be a DNS domain in lower case")
      .default("cluster.local")
      .meta({ form: "DNS domain", description: "The cluster's own DNS domain. Choose it before the first `up`." }),
    nameservers: z
      .array(ipv4)
      .default([])
      .meta({
        form: "list of IPv4 addresses",
        description: "DNS servers of the nodes. Required if addresses are static.",
        example: ["10.0.0.1"],
        change,
      }),
    disableSearchDomain: z.boolean().default(true).meta({
      description: "Keep the search domain that comes from DHCP or the hostname out of resolv.conf.",
      change,
    }),
    addressing: z.enum(["dhcp", "meta", "nocloud"]).default("dhcp").meta({
      description:
        "How nodes get their addresses: by DHCP, or static from the first boot, from META key 10 of the image (`meta`) or from a seed of the hypervisor (`nocloud`).",
      change,
    }),
    vlan: z
      .strictObject({
        tag: z.int().min(1, "must be 1-4094").max(4094, "must be 1-4094").meta({ description: "Number of the VLAN." }),
        mode: z.enum(["access", "trunk"]).meta({
          description: "With `access` the node does not see the tag, with `trunk` it tags by itself.",
        }),
      })
      .optional()
      .meta({ description: "The VLAN of the node network.", needsLayer2: true }),
  })
  .meta({
    description: "Ranges of nodes, pods and Services, the gateway, the VIP, and how nodes get their addresses.",
  });

/** For Tailscale or Headscale. */
export const tailscale = z
  .strictObject({
    enabled: z.boolean().default(false).meta({
      description:
        "Nodes join a [tailnet](network.md#tailscale). Goes with the extension `siderolabs/tailscale` in `image.extensions`.",
      change,
    }),
    loginServer: origin(["https", "http"], "https://<host>", ", without a path").optional().meta({
      fallback: "Tailscale's own",
      description: "The control server, for example a Headscale.",
      example: "https://headscale.example.org",
      change,
    }),
    hostname: z
      .string()
      .regex(/^[a-z0-9{}-]*\{node\}[a-z0-9{}-]*$/, "must be of letters, digits and '-', with '{node}' in it")
      .default("{cluster}-{node}")
      .meta({
        form: "letters, digits and `-`, with `{node}` in it",
        description: "Name of a node in the tailnet. `{cluster}` and `{node}` are replaced by their names.",
        change,
      }),
    routes: z.array(cidr).default([]).meta({
      form: "list of IPv4 ranges",
      description: "Ranges behind the nodes that each node offers to the tailnet.",
      change,
    }),
    extraArgs: z
      .array(z.string().regex(/^--?[A-Za-z]\S*$/, "must be one argument such as --accept-routes"))
      .default([])
      .meta({
        form: "list of arguments",
        description: "Further arguments of `tailscale up`.",
        example: ["--accept-routes"],
        change,
      }),
  })
  .meta({ description: "Whether nodes join a tailnet, which one, and what they offer it." });

export type NetworkSettings = Settings<typeof network>;
export type TailscaleSettings = Settings<typeof tailscale>;
