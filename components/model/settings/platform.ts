// What is installed into the cluster.
import { z } from "zod";
import type { Settings } from "./documentation.ts";
import { goDuration } from "./durations.ts";
import { addressRange, chartVersion } from "./scalars.ts";

export const kubeVip = z
  .strictObject({
    version: z
      .string()
      .regex(/^\d+\.\d+\.\d+$/, "must be a full version such as 1.0.3")
      .default("1.0.3")
      .meta({ form: "full version", description: "Version of kube-vip." }),
    interface: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,15}$/, "must be the name of a network interface such as eth0")
      .optional()
      .meta({
        form: "name of a network interface",
        fallback: "that of the default route",
        description: "The interface that has the VIP.",
        example: "eth0",
      }),
  })
  .meta({ description: "Settings of kube-vip, if `network.vipBy` names it." });

export const cilium = z
  .strictObject({
    version: chartVersion.default("1.18.8").meta({ description: "Version of the chart `cilium`, and of Cilium." }),
    values: z
      .record(z.string(), z.unknown())
      .default({})
      .meta({
        form: "map",
        description: "Values of the chart, merged over those that Talos needs.",
        example: { hubble: { relay: { enabled: true } } },
      }),
    probe: z.boolean().default(true).meta({
      description:
        "Before the gate opens, start a pod on every node that connects to the API by its Service address, and delete it again.",
    }),
  })
  .meta({ description: "Cilium, the network of the cluster." });

export const services = z
  .strictObject({
    announce: z.enum(["none", "cilium", "kube-vip"]).default("none").meta({
      description:
        "Which program answers in the node network for the addresses of Services of type LoadBalancer. `kube-vip` only if it provides the VIP too.",
      needsLayer2: true,
    }),
    addresses: z.array(addressRange).default([]).meta({
      form: "list of `10.0.0.50-10.0.0.99` or `10.0.0.64/27`",
      description: "Addresses for Services of type LoadBalancer, inside the node network. Nothing else may use them.",
    }),
    interfaces: z
      .array(z.string().min(1))
      .default([])
      .meta({
        form: "list of names",
        fallback: "all that Cilium uses, or that of the VIP",
        description: "Network interfaces that answer: regular expressions for Cilium, one name for kube-vip.",
        example: ["^eth[0-9]+"],
      }),
  })
  .meta({
    description:
      "Addresses of the node network for Services of type LoadBalancer ([platform](platform.md#addresses-for-services)).",
  });

export const csi = z
  .strictObject({
    enabled: z.boolean().optional().meta({
      fallback: "`true` on Hetzner and Proxmox, for which there is a driver",
      description: "Install a driver for volumes.",
    }),
    version: chartVersion.optional().meta({
      fallback: "2.19.0 of `hcloud-csi`, 0.5.6 of `proxmox-csi-plugin`",
      description: "Version of the driver's chart.",
    }),
    probe: z.boolean().default(true).meta({
      description: "Before the gate opens, create a volume and delete it again.",
    }),
  })
  .meta({ description: "The driver for volumes." });

export const sealedSecrets = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: "Install the controller that decrypts SealedSecrets." }),
    version: chartVersion.default("2.19.3").meta({ description: "Version of the chart `sealed-secrets`." }),
  })
  .meta({ description: "The controller that decrypts SealedSecrets." });

export const flux = z
  .strictObject({
    enabled: z.boolean().optional().meta({ fallback: "`true` if there is a `flux.url`", description: "Install Flux." }),
    version: chartVersion.default("2.19.0").meta({
      description: "Version of the chart `flux2`, which is not the version of Flux.",
    }),
    url: z
      .string()
      .refine(
        (text) => /^(https?|ssh):\/\/[^\s/]+\/\S+$/.test(text) && URL.canParse(text),
        "must be of the form https://<host>/<path> or ssh://git@<host>/<path>",
      )
      .optional()
      .meta({
        form: "`https://<host>/<path>` or `ssh://git@<host>/<path>`",
        description: "The git repository that Flux reconciles the cluster from.",
        example: "https://github.com/me/home.git",
      }),
    branch: z
      .string()
      .refine(isBranch, "must be the name of a branch such as main")
      .default("main")
      .meta({ form: "branch", description: "The branch." }),
    revision: z
      .string()
      .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, "must be the whole id of a commit, 40 or 64 hexadecimal digits")
      .optional()
      .meta({
        form: "full commit id",
        fallback: "the newest commit; Flux follows the branch",
        description: "A commit of the branch. The gate opens when it is applied, and Flux stays there.",
      }),
    path: z
      .string()
      .refine(isFolder, "must be a folder of the repository that begins with './', such as ./clusters/home")
      .default("./")
      .meta({
        form: "path that begins with `./`",
        description: "Folder of the repository that the root Kustomization applies.",
      }),
    interval: goDuration.default("1m").meta({ description: "How often Flux checks the repository." }),
    username: z.string().min(1).default("git").meta({
      form: "user name",
      description: "User that the repository is fetched as, if there is a `fluxGitPassword`.",
    }),
    knownHosts: z.string().min(1).optional().meta({
      description: "Host keys of the git server, as `ssh-keyscan` prints them. Goes with `fluxGitSshKey`.",
    }),
  })
  .meta({ description: "The git repository that Flux reconciles the cluster from." });

/** As git requires of a branch. */
function isBranch(text: string): boolean {
  return !/^[-/]|^refs\/|[\s~^:?*[\\\p{Cc}]|\.\.|@\{|\/\/|\/\.|^\.|\.lock(\/|$)|[/.]$|^@$|^HEAD$|^$|^[0-9a-f]{40}$|^[0-9a-f]{64}$/u.test(
    text,
  );
}

function isFolder(text: string): boolean {
  const [first, ...parts] = text.replace(/\/$/, "").split("/");
  return (
    first === "." &&
    parts.every((part) => part !== "" && !/^\.{1,2}$|^\s|\s$|[*?\\]|\.ya?ml$/.test(part)) &&
    text.includes("/")
  );
}

export const charts = z
  .strictObject({
    path: z.string().min(1).optional().meta({
      form: "folder, relative to the project",
      fallback: "charts are fetched from their repositories",
      description: "A folder that holds each chart under its name.",
      example: ".work/charts",
    }),
  })
  .meta({ description: "Where Helm charts come from." });

export type KubeVipSettings = Settings<typeof kubeVip>;
export type ServicesSettings = Settings<typeof services>;
export type FluxSettings = Settings<typeof flux>;
