// The shape of an environment: every key that Pulumi.<env>.yaml may hold, with its meaning and default.
// What one field alone can tell is checked here; what several fields tell together is checked in stacks/rules.
import { z } from "zod";
import { labName, labNameForm } from "./labName.ts";

const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "must be a DNS label: lower-case letters, digits and '-', 63 at most");
const version = (example: string) =>
  z
    .string()
    .regex(/^v?1\.\d+\.\d+$/, `must be a full version such as ${example}`)
    .transform((text) => text.replace(/^v/, ""));
const ipv4 = z.ipv4("must be an IPv4 address");
const cidr = z.cidrv4("must be an IPv4 range such as 10.0.0.0/16");
const mac = z
  .string()
  .regex(/^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$/, "must be a MAC address such as 02:00:00:00:00:0a")
  .transform((text) => text.toLowerCase());
const udpUrl = z
  .string()
  .regex(/^udp:\/\/[^/:]+:\d{1,5}$/, "must be of the form udp://<host>:<port>")
  .refine((url) => Number(url.split(":").at(-1)) <= 65_535, "must name a port up to 65535");
const featureGates = z.record(z.string(), z.boolean());
const chartVersion = z
  .string()
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/, "must be a full chart version such as 1.18.8");

/** A patch of the person's own: merged after ours, in the order given. */
const patch = z.strictObject({
  /** What the patch is for; errors and the preview name it. */
  name: dnsLabel,
  /** The switch that must be on for the patch to be written, for example `logShipping`; without it the patch is always written. */
  when: z.string().optional(),
  /** Only nodes of this role; every node without it. */
  role: z.enum(["controlplane", "worker"]).optional(),
  /** Only these nodes, by name; every node without it. */
  nodes: z.array(z.string()).min(1).optional(),
  /** The patch itself, a part of a machine config (merged) or a config document with `kind` (added). */
  patch: z.record(z.string(), z.unknown()),
});

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

const install = z.strictObject({
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

const node = z.strictObject({
  /** The node's name: its identity, its hostname and what every message calls it. */
  name: dnsLabel,
  role: z.enum(["controlplane", "worker"]),
  /** The node's own address in `network.nodeCidr`. */
  address: ipv4,
  /** Default: derived from the cluster's and the node's name, see docs/addresses.md. */
  mac: mac.optional(),
  /** The machine's UUID, where it is known before. Identity is checked against it. */
  uuid: z
    .guid("must be a UUID")
    .transform((text) => text.toLowerCase())
    .optional(),
  /** Proxmox: the VM's id. */
  vmId: z.int().min(100, "must be 100 or more: Proxmox keeps the ids below").max(999_999_999).optional(),
  /** Proxmox: the host that the VM runs on. Default `proxmox.hosts[0]`. */
  host: z.string().min(1).optional(),
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

const network = z.strictObject({
  /** The network that the nodes live in. */
  nodeCidr: cidr,
  /** Default: none (Hetzner routes by itself; DHCP tells it). Required where addresses are static. */
  gateway: ipv4.optional(),
  /** A virtual address that the control planes share. It does not exist before bootstrap. */
  vip: ipv4.optional(),
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

const image = z.strictObject({
  /** Official system extensions, for example `siderolabs/qemu-guest-agent`. */
  extensions: z.array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/, "must be '<owner>/<extension>'")).default([]),
  /** Kernel arguments, part of the schematic. */
  kernelArgs: z.array(z.string().min(1)).default([]),
  secureBoot: z.boolean().default(false),
  architecture: z.enum(["amd64", "arm64"]).default("amd64"),
  /** Host of the Image Factory. */
  factory: z
    .string()
    .regex(/^[a-z0-9.-]+(:\d+)?$/, "must be a host name without scheme or path")
    .default("factory.talos.dev"),
});

const machine = z.strictObject({
  /** Talos' own resolver on every node. */
  hostDNS: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** CoreDNS forwards to the node's resolver. */
      forwardKubeDNSToHost: z.boolean().default(true),
      /** Node names resolve to node addresses. */
      resolveMemberNames: z.boolean().default(true),
    })
    .prefault({}),
  kubelet: z
    .strictObject({
      featureGates: featureGates.default({ ImageVolume: true }),
      /** Pull one image after the other. */
      serializeImagePulls: z.boolean().default(false),
    })
    .prefault({}),
  apiServer: z
    .strictObject({
      /** Let the API server reach aggregated APIs by endpoint address; needed where it cannot route to service addresses. */
      aggregatorRouting: z.boolean().default(true),
      /** Default: the kubelet's. A gate that both name must have the same value. */
      featureGates: featureGates.optional(),
      /** More names and addresses for the API server's certificate. */
      certSANs: z.array(z.string().min(1)).default([]),
    })
    .prefault({}),
  /** An address on `lo` that pods reach the node's resolver by, where Cilium routes in eBPF past the host. Default: on where `hostDNS.forwardKubeDNSToHost` is. */
  ciliumHostDNS: z.boolean().optional(),
  /** Run pods on control planes. Default: only where the cluster has no worker. */
  scheduleOnControlPlanes: z.boolean().optional(),
  logShipping: z
    .strictObject({
      enabled: z.boolean().default(false),
      /** Where service logs go, as JSON lines. */
      services: udpUrl.default("udp://127.0.0.1:6051"),
      /** Where kernel logs go. */
      kernel: udpUrl.default("udp://127.0.0.1:6050"),
    })
    .prefault({}),
});

const hetzner = z.strictObject({
  location: z.string().min(1).default("fsn1"),
  networkZone: z.string().min(1).default("eu-central"),
  /** The private network that holds `network.nodeCidr`. */
  networkCidr: cidr.optional(),
  serverTypes: z
    .strictObject({ controlplane: z.string().min(1).default("cx32"), worker: z.string().min(1).default("cx42") })
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

const seconds = z.int().min(1, "must be 1 second or more");

/** How long each gate waits, in seconds, before it gives up. */
const timeouts = z.strictObject({
  preflight: seconds.default(60),
  stages: seconds.default(300),
  etcd: seconds.default(300),
  services: seconds.default(300),
  api: seconds.default(300),
  joined: seconds.default(300),
  cilium: seconds.default(300),
  nodes: seconds.default(600),
  csi: seconds.default(300),
  sealedSecrets: seconds.default(300),
  gitops: seconds.default(600),
});

const atOnce = "must be a number from 1 on, or a share such as '25%'";

/** How machine configs are sent to nodes. */
const apply = z.strictObject({
  /** Seconds before the first retry. */
  firstDelay: z.number().min(0.1, "must be 0.1 seconds or more").default(3),
  /** How much longer each delay is than the one before. */
  factor: z.number().min(1, "must be 1 or more").default(2),
  /** No delay is longer, in seconds. */
  maxDelay: z.number().min(0.1, "must be 0.1 seconds or more").default(60),
  retries: z.int().min(0).default(5),
  /** How many nodes at once: a number, or a share of all such as `25%`. Control planes that are bootstrapped go one at a time whatever it says. */
  parallel: z
    .union([z.int(atOnce).min(1, atOnce), z.string().regex(/^([1-9]\d?|100)%$/, atOnce)], { error: atOnce })
    .default(1),
});

const proxmox = z.strictObject({
  /** The Proxmox API. */
  endpoint: z.string().regex(/^https:\/\/[^/]+\/?$/, "must be of the form https://<host>:8006"),
  /** Accept the API's self-signed certificate. */
  insecure: z.boolean().default(false),
  /** Proxmox hosts that carry the VMs. */
  hosts: z.array(z.string().min(1)).min(1, "must name at least one host"),
  /** Storage for VM disks. */
  storage: z.string().min(1).default("local-lvm"),
  /** Storage with content type `import` for the Talos image. */
  imageStorage: z.string().min(1).default("local"),
  bridge: z.string().min(1).default("vmbr0"),
  vm: z
    .strictObject({
      machine: z.string().default("q35"),
      bios: z.string().default("ovmf"),
      efiDisk: z.boolean().default(true),
      /** Secure Boot keys on the EFI disk: only together with `image.secureBoot`. */
      preEnrolledKeys: z.boolean().default(false),
      scsiHardware: z.string().default("virtio-scsi-single"),
      networkModel: z.string().default("virtio"),
      /** MiB that the balloon device may take back; Talos does not support it, so it must be 0. */
      balloon: z.int().min(0).default(0),
      agent: z.boolean().default(true),
      onBoot: z.boolean().default(true),
    })
    .prefault({}),
  sizes: z
    .strictObject({
      controlplane: z
        .strictObject({ cores: z.int().min(2), memory: z.int().min(2048), disk: z.int().min(10) })
        .prefault({ cores: 4, memory: 8192, disk: 40 }),
      worker: z
        .strictObject({ cores: z.int().min(1), memory: z.int().min(1024), disk: z.int().min(10) })
        .prefault({ cores: 8, memory: 16384, disk: 100 }),
    })
    .prefault({}),
});

/** The cluster's network. */
const cilium = z.strictObject({
  /** Version of the chart cilium, which is Cilium's own. */
  version: chartVersion.default("1.18.8"),
  /** Values of the chart, merged over those that Talos needs. */
  values: z.record(z.string(), z.unknown()).default({}),
});

/** Volumes. */
const csi = z.strictObject({
  /** Default: where there is a driver for the platform, which is Hetzner. */
  enabled: z.boolean().optional(),
  /** Version of the chart hcloud-csi. */
  version: chartVersion.default("2.19.0"),
  /** Prove with a volume, which is made and deleted again, that volumes can be had. */
  probe: z.boolean().default(true),
});

/** The controller that decrypts SealedSecrets. */
const sealedSecrets = z.strictObject({
  enabled: z.boolean().default(true),
  /** Version of the chart sealed-secrets. */
  version: chartVersion.default("2.19.3"),
});

/** What reconciles the cluster from git. */
const flux = z.strictObject({
  /** Default: where there is a `url`. */
  enabled: z.boolean().optional(),
  /** Version of the chart flux2, which is not that of Flux. */
  version: chartVersion.default("2.19.0"),
  /** The repository. */
  url: z
    .string()
    .regex(/^(https?|ssh):\/\/[^\s/]+\/\S+$/, "must be of the form https://<host>/<path> or ssh://git@<host>/<path>")
    .optional(),
  branch: z.string().min(1).default("main"),
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
const charts = z.strictObject({
  /** A folder, relative to the project, that holds each chart under its name. Default: charts are fetched from their repositories. */
  path: z.string().min(1).optional(),
});

/** The lab that stands in for the platform. */
const lab = z.strictObject({
  /** Which of this checkout's labs, as `npm run lab -- up --name` has it. */
  name: z.string().regex(labName, `must be ${labNameForm}`),
});

const secretText = z.string().min(1).optional();

/** Top-level keys, as they stand in Pulumi.<env>.yaml behind the project's name. */
export const clusterConfigSchema = z.strictObject({
  clusterName: dnsLabel,
  platform: z.enum(["hetzner", "proxmox", "existing"]),
  talosVersion: version("1.12.6"),
  kubernetesVersion: version("1.35.4"),
  /** Host name or address that clients use for the Kubernetes API. Default: the VIP, else the load balancer, else the only control plane. */
  endpoint: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, "must be a host name or address without scheme, port or path")
    .optional(),
  nodes: z.array(node).min(1, "must list at least one node"),
  network,
  image: image.prefault({}),
  install: install.prefault({}),
  machine: machine.prefault({}),
  patches: z.array(patch).default([]),
  /** Like `patches`, for what must not be read: set with `--secret`. */
  secretPatches: z.array(patch).default([]),
  hetzner: hetzner.optional(),
  proxmox: proxmox.optional(),
  cilium: cilium.prefault({}),
  csi: csi.prefault({}),
  sealedSecrets: sealedSecrets.prefault({}),
  /** PEM, with `sealedSecretsKey`: what secrets are sealed for. Default: the controller makes a key, and with the cluster it is gone. */
  sealedSecretsCertificate: secretText,
  sealedSecretsKey: secretText,
  flux: flux.prefault({}),
  /** Password or token that the repository is fetched with over HTTP. */
  fluxGitPassword: secretText,
  /** Private key that the repository is fetched with over SSH. */
  fluxGitSshKey: secretText,
  /** The age key that SOPS-encrypted files in the repository are decrypted with. */
  sopsAgeKey: secretText,
  charts: charts.prefault({}),
  timeouts: timeouts.prefault({}),
  /** Seconds that all conditions of a gate must hold without a break before it opens. */
  stableSeconds: z.int().min(0).default(5),
  apply: apply.prefault({}),
  /** Run on a lab, which plays the platform on this machine. Default: on the platform itself. */
  lab: lab.optional(),
  /** Refuse to destroy machine secrets and machines until this is false. */
  protect: z.boolean().default(false),
});

/** Top-level keys whose values are encrypted in Pulumi.<env>.yaml and stand in no message. */
export const secretKeys: ReadonlySet<string> = new Set<keyof ClusterConfig>([
  "secretPatches",
  "sealedSecretsCertificate",
  "sealedSecretsKey",
  "fluxGitPassword",
  "fluxGitSshKey",
  "sopsAgeKey",
]);

export type ClusterConfig = Readonly<z.output<typeof clusterConfigSchema>>;
export type NodeConfig = ClusterConfig["nodes"][number];
