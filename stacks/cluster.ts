// The complete chain: each stage is a call, and waits for the gate before it. docs/architecture.md has a diagram of it.
import { backupFresh } from "../components/gates/backupFresh.ts";
import { ciliumReady } from "../components/gates/ciliumReady.ts";
import { csiReady } from "../components/gates/csiReady.ts";
import { etcd } from "../components/gates/etcd.ts";
import { gitOpsReady } from "../components/gates/gitOpsReady.ts";
import { firstKubernetesApi, kubernetesApi } from "../components/gates/kubernetesApi.ts";
import { nodesJoined } from "../components/gates/nodesJoined.ts";
import { nodesReady } from "../components/gates/nodesReady.ts";
import { preflight } from "../components/gates/preflight.ts";
import { sealedSecretsReady } from "../components/gates/sealedSecretsReady.ts";
import { stages } from "../components/gates/stages.ts";
import { talosServices } from "../components/gates/talosServices.ts";
import { virtualAddress } from "../components/gates/virtualAddress.ts";
import { takeBackups } from "./backups.ts";
import { watchCertificates } from "./certificates.ts";
import { clientEndpoint, kubernetesUrl } from "./endpoint.ts";
import { machineFacts } from "./facts.ts";
import { gateChain } from "./gateChain.ts";
import { deployMachineConfigs } from "./machineConfigs.ts";
import { deployMachines } from "./machines.ts";
import { type ClusterOutputs, clusterOutputs } from "./outputs.ts";
import { deleteStaleNodes, restoreEtcd } from "./restoreStages.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import {
  installCilium,
  installCloud,
  installer,
  installFlux,
  installKubeVip,
  installSealedSecrets,
  installServiceAddresses,
} from "./softwareStages.ts";
import {
  applyMachineConfigs,
  backUpBeforeReplacement,
  bootstrapEtcd,
  createSecrets,
  issueKubeconfig,
  joinMembers,
  type LiveNodes,
  upgradeKubernetes,
  upgradeTalos,
} from "./talosStages.ts";

const noNodes: LiveNodes = { isInMaintenance: async () => false, run: "" };

/** `nodes` is only asked in an update, or by the preview of a restore; tests have none. */
export async function deployCluster(config: ClusterConfig, nodes: LiveNodes = noNodes): Promise<ClusterOutputs> {
  const { gate, end, reports } = gateChain(config);
  // Without a token of the account this throws, and nothing was created yet.
  const resources = await config.platform.resources(config);
  const secrets = await createSecrets(config);
  const platform = deployMachines(config, resources, secrets);
  const configs = deployMachineConfigs(config, platform, secrets);

  const known = machineFacts(config, platform, secrets);
  const fit = gate(preflight, known, platform.ready);
  const upgraded = upgradeTalos(config, platform, configs, secrets, fit);
  const upToDate = upgradeKubernetes(config, platform, configs, secrets, upgraded);
  const saved = backUpBeforeReplacement(config, platform, secrets, upToDate);
  const applied = applyMachineConfigs(config, platform, configs, secrets, nodes, saved);

  // The basis of all later stages: the machines, and the configs that they run.
  const ground = { ...known, ground: [...known.machineIds, ...applied.hashes] };
  const staged = gate(stages, ground, [applied]);
  const restore = restoreEtcd(config, platform, secrets, applied, nodes, staged);
  const bootstrap = bootstrapEtcd(config, platform, secrets, applied, restore?.done ?? staged);
  const members = joinMembers(config, platform, secrets, [...staged, bootstrap]);
  const quorum = gate(etcd, ground, [members]);
  const healthy = gate(talosServices, ground, quorum);

  // Until the VIP has answered, everything uses the first control plane's own address.
  const issued = issueKubeconfig(config, platform, secrets, healthy);
  const cluster = { config, clusterIdentifier: secrets.clusterIdentifier, deletedWith: bootstrap };
  const own = { ...ground, server: issued.ownUrl, kubeconfig: issued.at(issued.ownUrl) };
  const answering = gate(firstKubernetesApi, own, healthy);
  const announced = installKubeVip(cluster, own.kubeconfig, answering);
  const shared = gate(virtualAddress, own, announced);

  const server = kubernetesUrl(clientEndpoint(config, platform));
  const kubernetes = { ...ground, server, kubeconfig: issued.at(server, shared) };
  const serving = gate(kubernetesApi, kubernetes, shared);
  const current = deleteStaleNodes(config, restore, platform, kubernetes, serving);
  const joined = gate(nodesJoined, kubernetes, current);

  const install = installer(cluster, kubernetes.kubeconfig, joined);
  const routed = gate(ciliumReady, kubernetes, installCilium(install, joined));
  const addresses = installServiceAddresses(install, routed);
  const account = installCloud(install, platform.cloudAccount, routed);
  const controller = installCloud(install, platform.cloudController, [...routed, ...account]);
  const ready = gate(nodesReady, kubernetes, [...routed, ...addresses, ...controller]);
  const volumes = installCloud(install, platform.volumes, [...ready, ...account]);
  const stored = gate(csiReady, kubernetes, volumes.length > 0 ? volumes : ready);
  const sealed = gate(sealedSecretsReady, kubernetes, installSealedSecrets(install, ready));
  const reconciled = gate(gitOpsReady, kubernetes, installFlux(install, [...stored, ...sealed]));
  gate(backupFresh, kubernetes, takeBackups(install, platform, secrets, reconciled));
  end();

  const { credentials } = secrets;
  const { kubeconfig } = kubernetes;
  watchCertificates(config, { credentials, kubeconfig });
  return clusterOutputs(config, { platform, configs, credentials, server, kubeconfig, reports });
}
