// What is installed into the cluster.
import { z } from "zod";
import { addressRange, chartVersion } from "./scalars.ts";

/** The cluster's network. */
export const cilium = z.strictObject({
  /** Version of the chart cilium, which is Cilium's own. */
  version: chartVersion.default("1.18.8"),
  /** Values of the chart, merged over those that Talos needs. */
  values: z.record(z.string(), z.unknown()).default({}),
});

/** What brings up the VIP where `network.vipBy` says so. */
export const kubeVip = z.strictObject({
  /** Version of kube-vip. */
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "must be a full version such as 1.0.3")
    .default("1.0.3"),
  /** The interface that the VIP is to be on. Default: the one of the default route. */
  interface: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,15}$/, "must be the name of a network interface such as eth0")
    .optional(),
});

/** Volumes. */
export const csi = z.strictObject({
  /** Default: where there is a driver for the platform, which are Hetzner and Proxmox. */
  enabled: z.boolean().optional(),
  /** Version of the driver's chart. Default: 2.19.0 of hcloud-csi, 0.5.6 of proxmox-csi-plugin. */
  version: chartVersion.optional(),
  /** Prove with a volume, which is made and deleted again, that volumes can be had. */
  probe: z.boolean().default(true),
});

/** Services of type LoadBalancer, where no cloud has addresses for them. */
export const services = z.strictObject({
  /** Who answers for their addresses in the node network. */
  announce: z.enum(["none", "cilium", "kube-vip"]).default("none"),
  /** Addresses of the node network that Services get. */
  addresses: z.array(addressRange).default([]),
  /** Links that are answered on: names as regular expressions for Cilium, one name for kube-vip. Default: all that Cilium uses, that of the VIP. */
  interfaces: z.array(z.string().min(1)).default([]),
});

/** The controller that decrypts SealedSecrets. */
export const sealedSecrets = z.strictObject({
  enabled: z.boolean().default(true),
  /** Version of the chart sealed-secrets. */
  version: chartVersion.default("2.19.3"),
});

/** What reconciles the cluster from git. */
export const flux = z.strictObject({
  /** Default: where there is a `url`. */
  enabled: z.boolean().optional(),
  /** Version of the chart flux2, which is not that of Flux. */
  version: chartVersion.default("2.19.0"),
  /** The repository. */
  url: z
    .string()
    .refine(
      (text) => /^(https?|ssh):\/\/[^\s/]+\/\S+$/.test(text) && URL.canParse(text),
      "must be of the form https://<host>/<path> or ssh://git@<host>/<path>",
    )
    .optional(),
  branch: z.string().min(1).default("main"),
  /** The commit of the branch that the cluster is to be at, and stays at. Default: the newest. */
  revision: z
    .string()
    .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, "must be the whole id of a commit, 40 or 64 hexadecimal digits")
    .optional(),
  /** The folder in it that the cluster is made from. */
  path: z.string().regex(/^\.\//, "must begin with './'").default("./"),
  /** How often the repository is looked at. */
  interval: z
    .string()
    .regex(/^([1-9]\d*h)?([1-9]\d*m)?([1-9]\d*s)?$/, "must be a duration such as 30s, 1m or 1h30m")
    .min(1)
    .default("1m"),
  /** Who fetches, where there is a `fluxGitPassword`. */
  username: z.string().min(1).default("git"),
  /** Host keys of the git server, as `ssh-keyscan` prints them. Goes with `fluxGitSshKey`. */
  knownHosts: z.string().min(1).optional(),
});

/** Where charts come from. */
export const charts = z.strictObject({
  /** A folder, relative to the project, that holds each chart under its name. Default: charts are fetched from their repositories. */
  path: z.string().min(1).optional(),
});
