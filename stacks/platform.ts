// The platform: what is installed into the cluster, a line a stage, with a gate behind each.
import { createHash } from "node:crypto";
import type * as pulumi from "@pulumi/pulumi";
import type { ChartArgs } from "../components/platform/chartRelease.ts";
import { Cilium } from "../components/platform/cilium.ts";
import { Flux, type GitSource } from "../components/platform/flux.ts";
import { HcloudCloudControllerManager } from "../components/platform/hcloudCloudControllerManager.ts";
import { HcloudCsi } from "../components/platform/hcloudCsi.ts";
import { HcloudSecret, type HcloudSecretArgs } from "../components/platform/hcloudSecret.ts";
import { kubernetesProvider } from "../components/platform/kubernetesProvider.ts";
import { changedOrFailed } from "../components/platform/leftAsItWas.ts";
import { mergeValues } from "../components/platform/mergeValues.ts";
import { ProxmoxCsi, type ProxmoxCsiAccount } from "../components/platform/proxmoxCsi.ts";
import { SealedSecrets, type SealingKey } from "../components/platform/sealedSecrets.ts";
import { announcingValues, ServiceAddresses } from "../components/platform/serviceAddresses.ts";
import { hasCloudControllerManager, hasCsi, hasFlux } from "./platformParts.ts";
import type { ClusterConfig } from "./schema.ts";
import { volumeDriver, volumeDriverVersion } from "./volumeDrivers.ts";

export type PlatformGate = "CiliumReady" | "NodesReady" | "CsiReady" | "SealedSecretsReady" | "GitOpsReady";

/** What a gate stands for: when some of it changes, it is waited at again. */
export interface Guard {
  readonly triggers: readonly pulumi.Input<string>[];
  /** What must not be shown. */
  readonly secrets?: readonly pulumi.Input<unknown>[];
  /** Whether the secrets in the state stay, where those given stand for none. */
  readonly keepSecrets?: boolean | undefined;
}

/** Makes a gate that waits behind a stage. */
export type MakeGate = (gate: PlatformGate, after: readonly pulumi.Resource[], guard: Guard) => pulumi.Resource;

export interface PlatformArgs {
  readonly config: ClusterConfig;
  /** What opens the cluster. */
  readonly kubeconfig: pulumi.Input<string>;
  /** Tells this cluster from any other, and is no secret. */
  readonly clusterIdentifier: pulumi.Input<string>;
  /** What the programs of the cloud know it by, where there is one. */
  readonly hcloud?: HcloudSecretArgs | undefined;
  /** What the driver for volumes on Proxmox knows Proxmox by. */
  readonly proxmoxCsi?: ProxmoxCsiAccount | undefined;
  /** What the first stage waits for: a cluster that is there, and all nodes joined. */
  readonly after: readonly pulumi.Resource[];
  /** With what the cluster goes: when it is destroyed, nothing in the cluster is asked to go first. */
  readonly deletedWith: pulumi.Resource;
  readonly gate: MakeGate;
}

/** All stages. What it returns is the last gate. */
export function deployPlatform(args: PlatformArgs): pulumi.Resource {
  const { config, gate, hcloud } = args;
  const { clusterName, cilium, services, sealedSecrets, flux, hetzner } = config;
  const named = (part: string) => `${clusterName}-${part}`;
  const { kubeconfig, clusterIdentifier } = args;
  const provider = kubernetesProvider(
    named("kubernetes"),
    { kubeconfig, clusterIdentifier },
    { dependsOn: [...args.after] },
  );
  // Children have it from their component.
  const behind = (...stages: readonly pulumi.Resource[]) => ({
    provider,
    deletedWith: args.deletedWith,
    dependsOn: [...stages],
    transformations: [changedOrFailed],
  });
  const charts = config.charts.path;

  const announcing = services.announce === "cilium";
  const values = announcing ? mergeValues(announcingValues, cilium.values) : cilium.values;
  const network = new Cilium(
    named("cilium"),
    { version: cilium.version, values, charts, nodeCount: config.nodes.length },
    behind(...args.after),
  );
  let open = gate("CiliumReady", [network], { triggers: [cilium.version, hash(values)] });
  const addresses =
    services.announce === "none"
      ? undefined
      : new ServiceAddresses(named("services"), { ...services, announces: announcing }, behind(open));

  const hasController = hasCloudControllerManager(config);
  const cloud =
    hcloud !== undefined && (hasController || hasCsi(config))
      ? new HcloudSecret(named("hcloud"), hcloud, behind(open))
      : undefined;
  const controllerArgs =
    hetzner !== undefined && hasController
      ? { ...hetzner.cloudControllerManager, podCidr: config.network.podCidr, networkZone: hetzner.networkZone }
      : undefined;
  const controller =
    cloud !== undefined && controllerArgs !== undefined
      ? new HcloudCloudControllerManager(named("ccm"), { ...controllerArgs, charts }, behind(open, cloud))
      : undefined;
  const taken = [open, ...present(addresses), ...present(controller)];
  open = gate("NodesReady", taken, {
    triggers: controller === undefined ? [] : [hash(controllerArgs)],
    ...(controller !== undefined && hcloudSecrets(hcloud, ["token", "network"])),
  });

  const driver = hasCsi(config) ? volumeDriver(config) : undefined;
  if (driver !== undefined) {
    const version = volumeDriverVersion(driver, config);
    const storage = volumes(named("csi"), args, { version, charts }, behind(open, ...present(cloud)));
    open = gate("CsiReady", [storage], volumesGuard(args, version));
  }
  if (sealedSecrets.enabled) {
    const key = sealingKey(config);
    const unsealer = new SealedSecrets(
      named("sealed-secrets"),
      { version: sealedSecrets.version, charts, sealingKey: key },
      behind(open),
    );
    open = gate("SealedSecretsReady", [unsealer], { triggers: [sealedSecrets.version, hash(key?.certificate)] });
  }
  if (hasFlux(config)) {
    const source = gitSource(config);
    const gitOps = new Flux(
      named("flux"),
      { version: flux.version, charts, source, sopsAgeKey: config.sopsAgeKey },
      behind(open),
    );
    const { password, sshKey, ...told } = source;
    const secrets = [password, sshKey, config.sopsAgeKey];
    open = gate("GitOpsReady", [gitOps], { triggers: [flux.version, hash(told)], secrets });
  }
  return open;
}

/** The driver for volumes of the platform that the machines are on. */
function volumes(
  name: string,
  { config, proxmoxCsi: account }: PlatformArgs,
  chart: ChartArgs,
  opts: pulumi.ComponentResourceOptions,
): pulumi.Resource {
  const where = proxmoxVolumes(config);
  if (where === undefined) return new HcloudCsi(name, chart, opts);
  if (account === undefined) throw new Error("the driver for volumes has no account on Proxmox"); // its platform makes one
  return new ProxmoxCsi(name, { ...chart, account, ...where }, opts);
}

function volumesGuard({ config, hcloud, proxmoxCsi: account }: PlatformArgs, version: string): Guard {
  if (account === undefined) return { triggers: [version], ...hcloudSecrets(hcloud, ["token"]) };
  const { tokenId, tokenSecret, ...place } = account;
  return { triggers: [version, hash({ ...place, ...proxmoxVolumes(config) })], secrets: [tokenId, tokenSecret] };
}

/** Where volumes lie on Proxmox, and what becomes of them. */
function proxmoxVolumes({ proxmox }: Pick<ClusterConfig, "proxmox">) {
  if (proxmox === undefined) return undefined;
  const { storage = proxmox.storage, filesystem, reclaimPolicy } = proxmox.volumes;
  return { storage, filesystem, reclaimPolicy };
}

/** What programs in the cluster know Hetzner's cloud by. */
function hcloudSecrets(
  hcloud: HcloudSecretArgs | undefined,
  keys: readonly ("token" | "network")[],
): Pick<Guard, "secrets" | "keepSecrets"> {
  return { secrets: hcloud === undefined ? [] : keys.map((key) => hcloud[key]), keepSecrets: hcloud?.keepToken };
}

function sealingKey({
  sealedSecretsCertificate: certificate,
  sealedSecretsKey: key,
}: Pick<ClusterConfig, "sealedSecretsCertificate" | "sealedSecretsKey">): SealingKey | undefined {
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

function gitSource({ flux, fluxGitPassword, fluxGitSshKey }: ClusterConfig): GitSource {
  const { url = "", branch, revision, path, interval, username, knownHosts } = flux;
  const credentials = { username, knownHosts, password: fluxGitPassword, sshKey: fluxGitSshKey };
  return { url, branch, revision, path, interval, ...credentials };
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function hash(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex");
}
