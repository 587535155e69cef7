// The facts of a cluster that gates need, in the order in which they become known.
import * as pulumi from "@pulumi/pulumi";
import type { ClusterFacts, Installed } from "../components/gates/clusterFacts.ts";
import { contentHash } from "../components/model/contentHash.ts";
import { fluxChart, fluxControllers, fluxRoot } from "../components/platform/flux.ts";
import { scheduledTriggers } from "../components/platform/scheduledBackup.ts";
import { sealedSecretsChart, sealedSecretsController } from "../components/platform/sealedSecrets.ts";
import { diskChoice } from "../components/talos/config/installDisk.ts";
import { sandboxImage } from "../components/talos/config/sandboxImage.ts";
import { backupPlace, maxAgeHours } from "./backups.ts";
import { hasBackups } from "./parts/clusterParts.ts";
import type { PlatformMachines, ProvenSoftware } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import { ciliumArgs, gitSource, kubeVipServices, sealingKey } from "./softwareStages.ts";
import type { ClusterSecrets } from "./talosStages.ts";

type StartFacts = Omit<ClusterFacts, "ground" | "kubeconfig" | "server">;

/** Everything that is known once there are machines. */
export function machineFacts(
  config: ClusterConfig,
  platform: PlatformMachines,
  secrets: Pick<ClusterSecrets, "credentials" | "clusterIdentifier">,
): StartFacts {
  const { machines, cloudController } = platform;
  const nodes = talosNodes(platform);
  return {
    talosVersion: config.talosVersion,
    nodeNames: machines.map(({ name }) => name),
    talosNodes: nodes,
    controlPlanes: nodes.apply((all) => all.filter(({ role }) => role === "controlplane")),
    nodesToInstall: nodesToInstall(config, nodes),
    expectedNodes: expectedNodes(platform),
    machineIds: machines.map(({ machineId }) => machineId),
    talos: secrets.credentials,
    cilium: cilium(config),
    cloudController: cloudController && { ...installed(cloudController), ...cloudController },
    virtualAddress: virtualAddress(config),
    volumes: volumes(config, platform),
    sealedSecrets: sealedSecrets(config),
    gitOps: gitOps(config),
    backups: backups(config, secrets),
  };
}

function talosNodes({ machines }: PlatformMachines) {
  return pulumi.all(
    machines.map(({ name, role, address, talosAddress: at, identity }) =>
      pulumi.all([at, identity]).apply(([talosAddress, known]) => ({ name, role, address, talosAddress, ...known })),
    ),
  );
}

function nodesToInstall({ nodes: listed, install }: ClusterConfig, nodes: ReturnType<typeof talosNodes>) {
  const own = new Map(listed.map((node) => [node.name, node.install]));
  return nodes.apply((all) =>
    all.map((node) => {
      const { disk, diskSelector } = diskChoice(install, own.get(node.name));
      return { ...node, install: { disk, diskSelector } };
    }),
  );
}

function expectedNodes({ machines }: PlatformMachines) {
  return pulumi.all(
    machines.map(({ name, identity, providerId }) =>
      pulumi.all([identity, providerId]).apply(([{ uuid }, id]) => ({
        name,
        ...(uuid !== undefined && { uuid }),
        ...(id !== undefined && { providerId: id }),
      })),
    ),
  );
}

function virtualAddress({ network, kubeVip, services }: ClusterConfig): ClusterFacts["virtualAddress"] {
  if (network.vip === undefined) return undefined;
  const settings = [kubeVip.version, kubeVip.interface, kubeVipServices({ services })];
  const triggers = network.vipBy === "kube-vip" ? [JSON.stringify(settings)] : [];
  return { address: network.vip, port: 6443, by: network.vipBy, triggers };
}

function cilium(config: ClusterConfig): ClusterFacts["cilium"] {
  const { version, values } = ciliumArgs(config);
  return { triggers: [version, contentHash(values)], probe: config.cilium.probe };
}

function volumes(config: ClusterConfig, platform: PlatformMachines): ClusterFacts["volumes"] {
  const known = config.platform.volumes;
  if (known === undefined || platform.volumes === undefined) return undefined;
  const { driver, controller, nodePlugin, chart, probe } = known;
  return {
    ...installed(platform.volumes),
    driver,
    controller,
    nodePlugin,
    namespace: chart.namespace,
    // Every node has this image already.
    probe: config.csi.probe ? { ...probe, image: sandboxImage(config.talosVersion) } : undefined,
  };
}

function sealedSecrets(config: ClusterConfig): ClusterFacts["sealedSecrets"] {
  return {
    namespace: sealedSecretsChart.namespace,
    controller: sealedSecretsController,
    certificate: config.sealedSecretsCertificate,
    triggers: [config.sealedSecrets.version, contentHash(sealingKey(config)?.certificate)],
  };
}

function gitOps(config: ClusterConfig): ClusterFacts["gitOps"] {
  const { password, sshKey, ...plain } = gitSource(config);
  const { url, branch, path, revision } = plain;
  return {
    namespace: fluxChart.namespace,
    controllers: fluxControllers,
    root: fluxRoot.name,
    url,
    branch,
    path,
    revision,
    triggers: [config.flux.version, contentHash(plain)],
    secretTriggers: { values: [password, sshKey, config.sopsAgeKey], areKept: false },
  };
}

function backups(
  config: ClusterConfig,
  { clusterIdentifier }: Pick<ClusterSecrets, "clusterIdentifier">,
): ClusterFacts["backups"] {
  if (!hasBackups(config)) return undefined;
  const { schedule, image } = config.backup;
  const { credentials, ...place } = backupPlace(config);
  return {
    ...{ place, credentials, recipients: config.ageRecipients, maxAgeHours: maxAgeHours(config), schedule },
    clusterId: clusterIdentifier,
    triggers: schedule === undefined ? [] : scheduledTriggers({ schedule, image }),
  };
}

function installed({ triggers, secrets, keepsSecrets }: ProvenSoftware): Installed {
  return { triggers, secretTriggers: { values: secrets, areKept: keepsSecrets } };
}
