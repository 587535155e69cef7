// The environments of chain tests: the same cluster on every platform.
import { join } from "node:path";
import { root } from "../../../scripts/base/paths.ts";
import { labCharts } from "../../../scripts/lab/labFolders.ts";

export type Platform = "hetzner" | "proxmox" | "existing";

export interface ChainEnvironment {
  /** Default hetzner. */
  readonly platform?: Platform;
  /** Default 1. */
  readonly controlPlanes?: number;
  /** Default 0. */
  readonly workers?: number;
  /** Default 1.13.8. */
  readonly talos?: keyof typeof kubernetesOf;
  /** Not on Hetzner. Default: `meta` on Proxmox, `dhcp` on existing machines. */
  readonly addressing?: "meta" | "nocloud" | "dhcp";
  /** Proxmox hosts. Default one. */
  readonly hosts?: readonly string[];
  /** Whether the control planes have a VIP. Not on Hetzner. Default: if there is more than one. */
  readonly vip?: boolean;
  /** More keys of the environment, without `sluice:`, which override those that are set here. */
  readonly config?: Config;
}

/** A node as an environment has it; what the platform needs besides is derived from its address. */
export interface ChainNode {
  readonly name: string;
  readonly role: string;
  readonly address: string;
}

export type Config = Readonly<Record<string, unknown>>;

/** The newest Kubernetes version that each Talos version runs, and the lab serves. */
const kubernetesOf = { "1.12.6": "1.35.4", "1.13.8": "1.36.4", "1.14.1": "1.36.4" } as const;

/** The source address of all commands in the lab. */
export const operator = "192.0.2.100/32";

/** The node network. */
const network = { hetzner: "10.0.1", proxmox: "10.0.0", existing: "10.0.0" } as const;

/** The sample repository. */
export const git = "http://192.0.2.30/sample.git";

/** The VIP of S4.1. */
export const vip = "10.0.0.20";

/** One cluster with the shortest possible waits. */
export function environment(options: ChainEnvironment): Config {
  const { platform = "hetzner", controlPlanes = 1, workers = 0, talos = "1.13.8", config = {} } = options;
  const nodes = (role: string, prefix: string, count: number, from: number) =>
    Array.from({ length: count }, (_, index) =>
      completeNode(options, {
        name: `${prefix}-${index + 1}`,
        role,
        address: `${network[platform]}.${from + index}`,
      }),
    );
  return {
    clusterName: "test",
    platform,
    talosVersion: talos,
    kubernetesVersion: kubernetesOf[talos],
    nodes: [...nodes("controlplane", "cp", controlPlanes, 11), ...nodes("worker", "w", workers, 21)],
    install: { disk: "/dev/sda" },
    ...platforms[platform]({ ...options, controlPlanes }),
    flux: { version: "2.9.5", url: git, path: "./clusters/lab", interval: "5s" },
    charts: { path: join(root, labCharts) },
    stableSeconds: 0,
    apply: { parallel: "100%" },
    ...config,
  };
}

/** A node with what its platform needs: a VM id, or a machine's identity. */
export function completeNode({ platform = "hetzner" }: ChainEnvironment, node: ChainNode): object {
  const last = Number(node.address.split(".")[3]);
  const hex = last.toString(16).padStart(2, "0");
  switch (platform) {
    case "hetzner":
      return node;
    case "proxmox":
      return { vmId: 300 + last, ...node };
    case "existing":
      return { mac: `02:00:00:00:00:${hex}`, uuid: `00000000-0000-4000-8000-0000000000${hex}`, ...node };
  }
}

/** The settings of the platform. */
const platforms: Readonly<Record<Platform, (options: ChainEnvironment) => Config>> = {
  hetzner: () => ({
    network: { nodeCidr: "10.0.1.0/24" },
    hetzner: {
      networkCidr: "10.0.0.0/16",
      serverTypes: { controlplane: "cx23", worker: "cx23" },
      allowedCidrs: [operator],
      loadBalancer: { address: "10.0.1.5" },
    },
  }),
  proxmox: (options) => ({
    network: home(options, "meta"),
    image: { extensions: ["siderolabs/qemu-guest-agent"] },
    proxmox: { endpoint: "https://10.0.0.2:8006", insecure: true, hosts: options.hosts ?? ["pve"] },
  }),
  existing: (options) => ({ network: home(options, "dhcp") }),
};

function home({ controlPlanes = 1, vip: isShared = controlPlanes > 1, ...options }: ChainEnvironment, usual: string) {
  return {
    nodeCidr: "10.0.0.0/16",
    gateway: "10.0.0.1",
    nameservers: ["10.0.0.1"],
    addressing: options.addressing ?? usual,
    ...(isShared && { vip }),
  };
}
