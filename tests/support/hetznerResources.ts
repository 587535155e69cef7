// Every resource of a complete chain on Hetzner, for the included environments. A stage that is added to the program is added to this list.

export interface Shape {
  readonly nodes: readonly string[];
  /** Placement groups, by the end of their names. */
  readonly groups: readonly string[];
  readonly hasFlux: boolean;
}

/** `type name` of each, sorted; without providers. */
export function hetznerResources(name: string, { nodes, groups, hasFlux }: Shape): string[] {
  const balancer = ["LoadBalancer", "LoadBalancerNetwork", "LoadBalancerService", "LoadBalancerTarget"];
  return [
    `sluice:images:HetznerImage ${name}-image`,
    `pulumi-nodejs:dynamic/images:HetznerSnapshot ${name}-image`,
    `sluice:machines:HetznerMachines ${name}`,
    `hcloud:index/network:Network ${name}-network`,
    `hcloud:index/networkSubnet:NetworkSubnet ${name}-subnet`,
    `hcloud:index/firewall:Firewall ${name}-apis`,
    ...groups.map((group) => `hcloud:index/placementGroup:PlacementGroup ${name}-spread-${group}`),
    ...nodes.map((node) => `hcloud:index/server:Server ${name}-${node}`),
    ...balancer.map((type) => `hcloud:index/${type[0]?.toLowerCase()}${type.slice(1)}:${type} ${name}-api`),
    `sluice:platform:HcloudSecret ${name}-hcloud`,
    `kubernetes:core/v1:Secret ${name}-hcloud-secret`,
    ...release("HcloudCloudControllerManager", `${name}-ccm`),
    ...release("HcloudCsi", `${name}-csi`),
    ...chainResources(name, { nodes, hasFlux }),
  ].sort();
}

/** What every platform has. */
export function chainResources(name: string, { nodes, hasFlux }: Omit<Shape, "groups">): string[] {
  const gates = {
    ...{ Preflight: "preflight", Stages: "stages", Etcd: "etcd", TalosServices: "talos-services" },
    ...{ KubernetesApi: "kubernetes-api", NodesJoined: "nodes-joined" },
    ...{ CiliumReady: "cilium-ready", NodesReady: "nodes-ready", CsiReady: "csi-ready" },
    ...{ SealedSecretsReady: "sealed-secrets-ready", ...(hasFlux && { GitOpsReady: "gitops-ready" }) },
  };
  return [
    `pulumi:pulumi:Stack sluice-${name}`,
    `sluice:talos:MachineSecrets ${name}`,
    `sluice:talos:Talosconfig ${name}`,
    `pulumi-nodejs:dynamic/machines:QuorumGuard ${name}`,
    `talos:machine/secrets:Secrets ${name}`,
    `pulumi-nodejs:dynamic/talos:ConfigContract ${name}`,
    ...nodes.map((node) => `sluice:talos:GeneratedMachineConfig ${name}-${node}`),
    `pulumi-nodejs:dynamic/talos:TalosUpgrade ${name}`,
    `pulumi-nodejs:dynamic/talos:KubernetesUpgrade ${name}`,
    `sluice:talos:AppliedMachineConfigs ${name}`,
    ...nodes.map((node) => `pulumi-nodejs:dynamic/talos:AppliedMachineConfig ${name}-${node}`),
    `pulumi-nodejs:dynamic/talos:Bootstrap ${name}`,
    `pulumi-nodejs:dynamic/talos:Members ${name}`,
    `sluice:talos:Kubeconfig ${name}`,
    `talos:cluster/kubeconfig:Kubeconfig ${name}`,
    ...["talosconfig", "kubeconfig"].map((file) => `pulumi-nodejs:dynamic/talos:ClientCertificate ${name}-${file}`),
    ...Object.entries(gates).map(([type, part]) => `pulumi-nodejs:dynamic/gates:${type} ${name}-${part}`),
    `pulumi-nodejs:dynamic/chain:StableGates ${name}-stable`,
    ...release("Cilium", `${name}-cilium`),
    `pulumi-nodejs:dynamic/platform:ChartVersion ${name}-cilium-version`,
    ...release("SealedSecrets", `${name}-sealed-secrets`),
    ...(hasFlux ? flux(`${name}-flux`) : []),
  ];
}

export function release(component: string, name: string): string[] {
  return [`sluice:platform:${component} ${name}`, `kubernetes:helm.sh/v3:Release ${name}-release`];
}

function flux(name: string): string[] {
  return [
    `sluice:platform:Flux ${name}`,
    `kubernetes:core/v1:Namespace ${name}-namespace`,
    `kubernetes:helm.sh/v3:Release ${name}-controllers`,
    `kubernetes:source.toolkit.fluxcd.io/v1:GitRepository ${name}-source`,
    `kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization ${name}-root`,
  ];
}

/** The dev environment. The sealing key of its environment is the lab's own. */
export const devShape: Shape = {
  nodes: ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3"],
  groups: ["10-0-1-10", "10-0-1-20"],
  hasFlux: true,
};
export const sealingKey = "kubernetes:core/v1:Secret dev-sealed-secrets-key";

/** The included environment of the Hetzner Cloud. */
export const cloudShape: Shape = {
  nodes: ["cp-1", "cp-2", "cp-3", "w-1", "w-2", "w-3"],
  groups: ["10-0-1-10", "10-0-1-20"],
  hasFlux: false,
};
