// The stages on Talos: the cluster's identity, its configs on the nodes, etcd, and the kubeconfig.
import type * as pulumi from "@pulumi/pulumi";
import { installerSchematic } from "../components/images/nodeSchematic.ts";
import { isPlain, schematicYaml } from "../components/images/schematic.ts";
import { Members } from "../components/lifecycle/members.ts";
import { ReplacementBackup } from "../components/lifecycle/replacementBackup.ts";
import { pick } from "../components/model/pick.ts";
import type { TalosCredentials } from "../components/talos/client/talosClient.ts";
import { clientCredentials } from "../components/talos/credentials/clientCredentials.ts";
import { Kubeconfig } from "../components/talos/credentials/kubeconfig.ts";
import { MachineSecrets } from "../components/talos/credentials/machineSecrets.ts";
import { AppliedMachineConfigs, type IsInMaintenance } from "../components/talos/nodes/appliedMachineConfigs.ts";
import { Bootstrap } from "../components/talos/nodes/bootstrap.ts";
import { offerSecrets } from "../components/talos/secrets/offerSecrets.ts";
import { faultText, isBundle, readBundle, type SecretsBundle } from "../components/talos/secrets/secretsBundle.ts";
import { KubernetesUpgrade } from "../components/upgrade/kubernetes/kubernetesUpgrade.ts";
import { TalosUpgrade } from "../components/upgrade/talos/talosUpgrade.ts";
import { backupBeforeChanges } from "./backups.ts";
import { kubernetesUrl } from "./endpoint.ts";
import type { After } from "./gateChain.ts";
import type { MachineConfigs } from "./machineConfigs.ts";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { PreviewRestore } from "./previewRestore.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";

/** What the program itself asks nodes, before the engine does anything with them. */
export interface LiveNodes {
  readonly isInMaintenance: IsInMaintenance;
  /** Differs in each run. */
  readonly run: string;
  /** Ends a preview with what the restore would fail with. */
  readonly previewRestore?: PreviewRestore;
  /** They run as a cluster already, and are recorded as they are. */
  readonly adopts?: true;
}

/** The cluster's identity, and what follows from it. */
export interface ClusterSecrets
  extends Pick<MachineSecrets, "machineSecrets" | "clientConfiguration" | "clusterIdentifier" | "madeWith"> {
  /** For the Talos API. */
  readonly credentials: pulumi.Output<TalosCredentials>;
}

export async function createSecrets(config: ClusterConfig): Promise<ClusterSecrets> {
  const { clusterName, talosVersion, protect } = config;
  const declared = config.machineSecrets === undefined ? undefined : knownBundle(config.machineSecrets);
  const withdraw = declared && (await offerSecrets(declared));
  const secrets = new MachineSecrets(clusterName, { talosVersion, declared }, { protect });
  if (withdraw !== undefined) secrets.isPresent.apply(withdraw);
  const { clientConfiguration } = secrets;
  return {
    ...pick(secrets, "machineSecrets", "clusterIdentifier", "madeWith"),
    clientConfiguration,
    credentials: clientCredentials(clientConfiguration),
  };
}

/** A rule has checked it. */
function knownBundle(text: string): SecretsBundle {
  const read = readBundle(text);
  if (!isBundle(read)) throw new Error(`machineSecrets: ${read.map(faultText).join("; ")}`);
  return read;
}

/** Before a machine in place of a lost control plane joins. Returns what the next stage waits for. */
export function backUpBeforeReplacement(
  config: ClusterConfig,
  { machines }: PlatformMachines,
  secrets: ClusterSecrets,
  after: After,
): After {
  const backup = backupBeforeChanges(config, secrets);
  if (backup === undefined) return after;
  const controlPlanes = machines.filter(({ role }) => role === "controlplane");
  const args = { controlPlanes, credentials: secrets.credentials, backup };
  return [...after, new ReplacementBackup(config.clusterName, args, { dependsOn: [...after] })];
}

/** Every node of a running cluster gets the Talos that its config asks for, before it gets that config. Returns what the next stage waits for. */
export function upgradeTalos(
  config: ClusterConfig,
  { machines }: PlatformMachines,
  { machineConfigurations }: MachineConfigs,
  secrets: ClusterSecrets,
  after: After,
): After {
  const { clusterName, image, timeouts, upgrade } = config;
  const { drain, drainSeconds, volumes, parallel } = upgrade;
  const backup = backupBeforeChanges(config, secrets);
  const schematic = installerSchematic(config);
  const args = {
    machines,
    machineConfigurations,
    credentials: secrets.credentials,
    ...(backup !== undefined && { backup }),
    ...(!isPlain(schematic) && { schematic: { factory: image.factory, yaml: schematicYaml(schematic) } }),
    parallel,
    limits: {
      drain,
      drainSeconds,
      volumes,
      nodeSeconds: timeouts.upgrade,
      quorumSeconds: timeouts.quorum,
      storageSeconds: timeouts.storage,
    },
    pullSeconds: timeouts.pull,
  };
  return [...after, new TalosUpgrade(clusterName, args, { dependsOn: [...after] })];
}

/** Every node of a running cluster gets the Kubernetes that its config has the images of, before it gets that config. Returns what the next stage waits for. */
export function upgradeKubernetes(
  config: ClusterConfig,
  { machines }: PlatformMachines,
  { machineConfigurations }: MachineConfigs,
  secrets: ClusterSecrets,
  after: After,
): After {
  const { clusterName, kubernetesVersion: version, stableSeconds, timeouts, upgrade } = config;
  const backup = backupBeforeChanges(config, secrets);
  const args = {
    machines,
    version,
    machineConfigurations,
    credentials: secrets.credentials,
    ...(backup !== undefined && { backup }),
    parallel: upgrade.parallel,
    acceptRemovedApis: upgrade.acceptRemovedApis,
    limits: { pullSeconds: timeouts.pull, nodeSeconds: timeouts.kubernetes, stableSeconds },
  };
  return [...after, new KubernetesUpgrade(clusterName, args, { dependsOn: [...after] })];
}

/** The machine config of each node, on the node. */
export function applyMachineConfigs(
  { clusterName, apply, timeouts }: ClusterConfig,
  { machines }: PlatformMachines,
  { machineConfigurations, contract }: MachineConfigs,
  { credentials }: ClusterSecrets,
  nodes: LiveNodes,
  after: After,
): AppliedMachineConfigs {
  const { firstDelay, factor, maxDelay, retries } = apply;
  const retry = { firstDelaySeconds: firstDelay, factor, maxDelaySeconds: maxDelay, retries };
  return new AppliedMachineConfigs(
    clusterName,
    {
      machines,
      machineConfigurations,
      contract,
      credentials,
      parallel: apply.parallel,
      retry,
      deadlineSeconds: timeouts.configure,
      ...nodes,
    },
    { dependsOn: [...after] },
  );
}

/** Starts etcd on the first control plane, unless one exists already. */
export function bootstrapEtcd(
  { clusterName, timeouts }: ClusterConfig,
  { machines }: PlatformMachines,
  { credentials }: ClusterSecrets,
  { rejoined, adopts }: AppliedMachineConfigs,
  after: After,
): Bootstrap {
  const controlPlanes = machines.filter(({ role }) => role === "controlplane");
  const args = { controlPlanes, credentials, rejoined, deadlineSeconds: timeouts.bootstrap, ...(adopts && { adopts }) };
  return new Bootstrap(clusterName, args, { dependsOn: [...after] });
}

/** The nodes that belong to the cluster: a node that was removed from the list leaves here. */
export function joinMembers(
  config: ClusterConfig,
  { machines }: PlatformMachines,
  secrets: ClusterSecrets,
  after: After,
): Members {
  const { clusterName, timeouts } = config;
  const { credentials } = secrets;
  const backup = backupBeforeChanges(config, secrets);
  const deadlines = { drainDeadlineSeconds: timeouts.drain, deadlineSeconds: timeouts.leave };
  const args = { machines, credentials, ...(backup !== undefined && { backup }), ...deadlines };
  return new Members(clusterName, args, { dependsOn: [...after] });
}

/** The kubeconfig that Talos issues, for use with different server addresses. */
export interface IssuedKubeconfig {
  /** The first control plane's own address. */
  readonly ownUrl: pulumi.Output<string>;
  /** The kubeconfig with this server, once `after` is done. Secret. */
  at(server: pulumi.Input<string>, after?: After): pulumi.Output<string>;
}

export function issueKubeconfig(
  { clusterName, clientCertificateDays: renewDays, timeouts }: ClusterConfig,
  { machines }: PlatformMachines,
  { clientConfiguration }: ClusterSecrets,
  after: After,
): IssuedKubeconfig {
  const first = machines.find(({ role }) => role === "controlplane");
  if (first === undefined) throw new Error("there is no control plane"); // a rule has checked it
  const kubeconfig = new Kubeconfig(
    clusterName,
    { controlPlane: first.talosAddress, clientConfiguration, renewDays, deadlineSeconds: timeouts.kubeconfig },
    { dependsOn: [...after] },
  );
  return { ownUrl: kubernetesUrl(first.talosAddress), at: (server, behind) => kubeconfig.at(server, behind) };
}
