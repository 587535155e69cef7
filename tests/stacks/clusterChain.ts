// The stages and gates of a cluster as the engine must get them: clusterGraphFaults.ts compares a graph with this.
import type { AnyGate } from "../../components/gates/gateDefinition.ts";
import { firstKubernetesApi } from "../../components/gates/kubernetesApi.ts";
import { virtualAddress } from "../../components/gates/virtualAddress.ts";
import { clusterParts, gatesOf, hasBackups } from "../../stacks/parts/clusterParts.ts";
import { hasVolumes } from "../../stacks/platforms/platform.ts";
import type { ClusterConfig } from "../../stacks/schema/clusterConfig.ts";
import type { Link } from "./clusterGraphFaults.ts";

export const gate = (name: string) => `pulumi-nodejs:dynamic/gates:${name}`;
export const bootstrap = "pulumi-nodejs:dynamic/talos:Bootstrap";
const members = "pulumi-nodejs:dynamic/talos:Members";
export const quorumGuard = "pulumi-nodejs:dynamic/machines:QuorumGuard";
const talosUpgrade = "pulumi-nodejs:dynamic/talos:TalosUpgrade";
const kubernetesUpgrade = "pulumi-nodejs:dynamic/talos:KubernetesUpgrade";
const replacementBackup = "pulumi-nodejs:dynamic/talos:ReplacementBackup";
const restore = "pulumi-nodejs:dynamic/backup:Restore";
const staleNodes = "pulumi-nodejs:dynamic/backup:StaleNodes";
const latestBackup = "pulumi-nodejs:dynamic/backup:LatestBackup";
const kubernetes = "pulumi:providers:kubernetes";

/** Resources that come after no gate and are proven by none directly: providers, and the inputs of machine configs. */
export const ground = [
  ...["pulumi:providers:hcloud", "pulumi:providers:proxmoxve", kubernetes],
  // These create nothing; the second decides what happens to machines at the end.
  ...["sluice:machines:ExistingMachines", "pulumi-nodejs:dynamic/machines:Release"],
  // The cluster's own account, which nothing before the driver for volumes uses.
  "sluice:machines:ProxmoxCsiAccess",
  ...["sluice:talos:MachineSecrets", "sluice:talos:GeneratedMachineConfig", "sluice:talos:Talosconfig"],
  "pulumi-nodejs:dynamic/talos:ConfigContract",
  // Reports how long the certificates in talosconfig and kubeconfig are still valid.
  "pulumi-nodejs:dynamic/talos:ClientCertificate",
];

/** What a platform lets the engine create. */
export interface PlatformStages {
  /** Components, or resources that are in none. */
  readonly machines: readonly string[];
  readonly cloudAccount?: string;
  readonly cloudController?: string;
  readonly volumes?: string;
}

const platforms: Readonly<Record<string, PlatformStages>> = {
  hetzner: {
    machines: ["sluice:images:HetznerImage", "sluice:machines:HetznerMachines"],
    cloudAccount: "sluice:platform:HcloudSecret",
    cloudController: "sluice:platform:HcloudCloudControllerManager",
    volumes: "sluice:platform:HcloudCsi",
  },
  proxmox: {
    machines: ["sluice:images:ProxmoxImages", "sluice:machines:ProxmoxMachines"],
    volumes: "sluice:platform:ProxmoxCsi",
  },
  existing: { machines: [] },
};

/** The stages before the first gate and before each further gate, if this configuration has them (docs/architecture.md). */
function stagesBefore(config: ClusterConfig, own: PlatformStages): Readonly<Record<string, Omit<Link, "gate">>> {
  const platform = (...names: string[]) => names.map((name) => `sluice:platform:${name}`);
  const kubeconfig = ["sluice:talos:Kubeconfig"];
  const { kubeVip, virtualAddress } = clusterParts(config);
  const hasController = config.platform.hasCloudController(config.settings);
  const inCluster = true;
  const { schedule, beforeChanges } = config.backup;
  const restores = config.restoreFrom !== undefined;
  const savesFirst = hasBackups(config) && beforeChanges;
  return {
    Preflight: { stages: [quorumGuard, ...own.machines] },
    Stages: {
      stages: [
        talosUpgrade,
        kubernetesUpgrade,
        ...(savesFirst ? [replacementBackup] : []),
        "sluice:talos:AppliedMachineConfigs",
      ],
    },
    Etcd: { stages: [...(restores ? [restore] : []), bootstrap, members] },
    VirtualAddress: kubeVip ? { stages: platform("KubeVip"), inCluster } : { stages: kubeconfig },
    KubernetesApi: { stages: virtualAddress ? [] : kubeconfig },
    NodesJoined: { stages: restores ? [staleNodes] : [] },
    CiliumReady: { stages: platform("Cilium"), inCluster },
    NodesReady: {
      stages: [
        ...(config.services.announce === "none" ? [] : platform("ServiceAddresses")),
        ...(hasController ? present(own.cloudController) : []),
      ],
      // Used by the controller and by the driver for volumes.
      supplies: hasController || hasVolumes(config) ? present(own.cloudAccount) : [],
      inCluster,
    },
    CsiReady: { stages: present(own.volumes), inCluster },
    SealedSecretsReady: { stages: platform("SealedSecrets"), inCluster, isBeside: hasVolumes(config) },
    GitOpsReady: { stages: platform("Flux"), inCluster },
    BackupFresh:
      schedule === undefined
        ? { stages: [latestBackup] }
        : { stages: [latestBackup, ...platform("ScheduledBackup")], inCluster },
  };
}

/** In the order of the gates. */
export function chainOf(config: ClusterConfig, own = platforms[config.platform.name] ?? { machines: [] }): Link[] {
  const before = stagesBefore(config, own);
  const titleOf = ({ name, resource }: AnyGate) => `${gate(name)} ${config.clusterName}-${resource}`;
  const links = [
    ...gatesOf(config).map((one): Link => ({ stages: [], ...before[one.name], gate: titleOf(one) })),
    // It ends the chain.
    { stages: [], gate: "pulumi-nodejs:dynamic/chain:StableGates" },
  ];
  if (!clusterParts(config).kubeVip) return links;
  // kube-vip is installed through the first control plane's own address.
  const place = links.findIndex((link) => link.gate === titleOf(virtualAddress));
  return links.toSpliced(place, 0, { stages: ["sluice:talos:Kubeconfig"], gate: titleOf(firstKubernetesApi) });
}

function present(type: string | undefined): string[] {
  return type === undefined ? [] : [type];
}
