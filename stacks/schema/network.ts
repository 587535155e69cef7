// The network that the cluster lives in.
import { z } from "zod";
import { cidr, ipv4, origin } from "./scalars.ts";

/** Nodes in a tailnet, of Tailscale or of a Headscale of one's own. */
export const tailscale = z.strictObject({
  enabled: z.boolean().default(false),
  /** The control server, for example a Headscale. Default: Tailscale's own. */
  loginServer: origin(["https", "http"], "must be of the form https://<host>, without a path").optional(),
  /** What a node is called in the tailnet: `{cluster}` and `{node}` stand for the names of both. */
  hostname: z
    .string()
    .regex(/^[a-z0-9{}-]*\{node\}[a-z0-9{}-]*$/, "must be of letters, digits and '-', with '{node}' in it")
    .default("{cluster}-{node}"),
  /** Ranges behind the nodes that each of them offers to the tailnet. */
  routes: z.array(cidr).default([]),
  /** More arguments of `tailscale up`. */
  extraArgs: z.array(z.string().regex(/^--\S+$/, "must be one argument such as --accept-routes")).default([]),
});

export const network = z.strictObject({
  /** The network that the nodes live in. */
  nodeCidr: cidr,
  /** Default: none (Hetzner routes by itself; DHCP tells it). Required where addresses are static. */
  gateway: ipv4.optional(),
  /** A virtual address that the control planes share. It does not exist before bootstrap. */
  vip: ipv4.optional(),
  /** Who brings it up: Talos itself, or kube-vip. */
  vipBy: z.enum(["talos", "kube-vip"]).default("talos"),
  podCidr: cidr.default("10.244.0.0/16"),
  serviceCidr: cidr.default("10.96.0.0/12"),
  /** The cluster's DNS domain. */
  dnsDomain: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, "must be a DNS domain")
    .default("cluster.local"),
  nameservers: z.array(ipv4).default([]),
  /** Leave the search domain that DHCP or the hostname brings out of resolv.conf. */
  disableSearchDomain: z.boolean().default(true),
  /** How a node gets its address: by DHCP, or static from the first boot by META key 10 or nocloud. */
  addressing: z.enum(["dhcp", "meta", "nocloud"]).default("dhcp"),
  /** `access`: the port is in the VLAN and the node does not see the tag. `trunk`: the node itself tags. */
  vlan: z
    .strictObject({
      tag: z.int().min(1, "must be 1-4094").max(4094, "must be 1-4094"),
      mode: z.enum(["access", "trunk"]),
    })
    .optional(),
});
