// The software that is installed into the cluster, one stage for each part. A stage returns what the next gate waits for. If the environment does not have
// the part, that is what the stage itself would wait for, or nothing if other stages run in parallel.
import type * as pulumi from "@pulumi/pulumi";
import { Cilium } from "../components/platform/cilium.ts";
import { changedOrFailed } from "../components/platform/failWhenUnreachable.ts";
import { Flux, type GitSource } from "../components/platform/flux.ts";
import { kubernetesProvider } from "../components/platform/kubernetesProvider.ts";
import { KubeVip } from "../components/platform/kubeVip.ts";
import { mergeValues } from "../components/platform/mergeValues.ts";
import { SealedSecrets, type SealingKey } from "../components/platform/sealedSecrets.ts";
import { announcingValues, ServiceAddresses } from "../components/platform/serviceAddresses.ts";
import type { After } from "./gateChain.ts";
import { clusterParts } from "./parts/clusterParts.ts";
import type { ClusterSoftware } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

/** The cluster after its bootstrap. */
export interface LivingCluster {
  readonly config: ClusterConfig;
  /** Identifies this cluster, and is no secret. */
  readonly clusterIdentifier: pulumi.Input<string>;
  /** When this is deleted, the cluster is gone, so nothing in the cluster is deleted individually. */
  readonly deletedWith: pulumi.Resource;
}

/** How stages install software into the cluster. */
export interface Installer {
  readonly config: ClusterConfig;
  /** The name of a resource. */
  named(part: string): string;
  /** The options of a component; its children inherit them. */
  behind(after: After): pulumi.ComponentResourceOptions;
  /** When this is deleted, nothing in the cluster has to be deleted individually. */
  readonly deletedWith: pulumi.Resource;
}

/** Nothing calls the cluster's API before `after`. */
export function installer(
  { config, clusterIdentifier, deletedWith }: LivingCluster,
  kubeconfig: pulumi.Input<string>,
  after: After,
  name = "kubernetes",
): Installer {
  const named = (part: string) => `${config.clusterName}-${part}`;
  const provider = kubernetesProvider(named(name), { kubeconfig, clusterIdentifier }, { dependsOn: [...after] });
  const transformations = [changedOrFailed];
  return {
    config,
    named,
    deletedWith,
    behind: (stages) => ({ provider, deletedWith, dependsOn: [...stages], transformations }),
  };
}

/** Through the first control plane's own address, the only one that works so far. */
export function installKubeVip(cluster: LivingCluster, kubeconfig: pulumi.Input<string>, after: After): After {
  const { kubeVip, network, services } = cluster.config;
  if (!clusterParts(cluster.config).kubeVip || network.vip === undefined) return after;
  const { named, behind } = installer(cluster, kubeconfig, after, "first-kubernetes");
  const args = { ...kubeVip, address: network.vip, services: kubeVipServices({ services }) };
  return [new KubeVip(named("kube-vip"), args, behind(after))];
}

export function installCilium({ config, named, behind }: Installer, after: After): After {
  const args = { ...ciliumArgs(config), charts: config.charts.path, nodeCount: config.nodes.length };
  return [new Cilium(named("cilium"), args, behind(after))];
}

/** Addresses of Services, in parallel with other stages. */
export function installServiceAddresses({ config: { services }, named, behind }: Installer, after: After): After {
  if (services.announce === "none") return [];
  const args = { ...services, announces: services.announce === "cilium" };
  return [new ServiceAddresses(named("services"), args, behind(after))];
}

/** Software for the machines' platform, in parallel with other stages. */
export function installCloud({ named, behind }: Installer, software: ClusterSoftware | undefined, after: After): After {
  return software === undefined ? [] : [software.install(named(software.name), behind(after))];
}

export function installSealedSecrets({ config, named, behind }: Installer, after: After): After {
  if (!config.sealedSecrets.enabled) return after;
  const args = {
    version: config.sealedSecrets.version,
    charts: config.charts.path,
    sealingKey: sealingKey(config),
  };
  return [new SealedSecrets(named("sealed-secrets"), args, behind(after))];
}

export function installFlux({ config, named, behind }: Installer, after: After): After {
  if (!clusterParts(config).gitOps) return after;
  const { flux, charts, sopsAgeKey } = config;
  const args = { version: flux.version, charts: charts.path, source: gitSource(config), sopsAgeKey };
  return [new Flux(named("flux"), args, behind(after))];
}

export function ciliumArgs({ cilium, services }: Pick<ClusterConfig, "cilium" | "services">) {
  const announces = services.announce === "cilium";
  return {
    version: cilium.version,
    values: announces ? mergeValues(announcingValues, cilium.values) : cilium.values,
  };
}

export function sealingKey({
  sealedSecretsCertificate: certificate,
  sealedSecretsKey: key,
}: Pick<ClusterConfig, "sealedSecretsCertificate" | "sealedSecretsKey">): SealingKey | undefined {
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

export function gitSource({ flux, fluxGitPassword, fluxGitSshKey }: ClusterConfig): GitSource {
  const { url = "", branch, revision, path, interval, username, knownHosts } = flux;
  const credentials = { username, knownHosts, password: fluxGitPassword, sshKey: fluxGitSshKey };
  return { url, branch, revision, path, interval, ...credentials };
}

/** Undefined if kube-vip does not answer for addresses of Services. */
export function kubeVipServices({ services }: Pick<ClusterConfig, "services">) {
  return services.announce === "kube-vip" ? { interface: services.interfaces[0] } : undefined;
}
