// The whole chain, a line a stage, with a gate between every two. What a stage does is in its component; it waits for the gate before it.
import * as pulumi from "@pulumi/pulumi";
import { Members } from "../components/lifecycle/members.ts";
import { Bootstrap } from "../components/talos/bootstrap.ts";
import { clientCredentials } from "../components/talos/clientCredentials.ts";
import { Kubeconfig } from "../components/talos/kubeconfig.ts";
import { MachineSecrets } from "../components/talos/machineSecrets.ts";
import { NodeConfigurations } from "../components/talos/nodeConfigurations.ts";
import { watchCertificates } from "./certificates.ts";
import { deployEndpoint } from "./endpoint.ts";
import { ClusterGates } from "./gates.ts";
import { deployMachineConfigs } from "./machineConfigs.ts";
import { deployMachines } from "./machines.ts";
import { type ClusterOutputs, gitOpsRevision, machineOutputs } from "./outputs.ts";
import { deployPlatform } from "./platform.ts";
import type { ClusterConfig } from "./schema.ts";

export function deployCluster(config: ClusterConfig): ClusterOutputs {
  const { clusterName: name, timeouts, apply } = config;

  const secrets = new MachineSecrets(name, { talosVersion: config.talosVersion }, { protect: config.protect });
  const { clientConfiguration, clusterIdentifier } = secrets;
  const credentials = clientCredentials(clientConfiguration);

  const platform = deployMachines(config, credentials);
  const configs = deployMachineConfigs(config, platform, secrets);
  const outputs = machineOutputs(config, platform, configs, credentials);

  const { machines } = platform;
  const identities = machines.map(({ machineId }) => machineId);
  const gates = new ClusterGates(config, machines);
  const talos = gates.onTalos(credentials);

  const fit = talos.preflight(platform.ready, identities);

  const configurations = new NodeConfigurations(
    name,
    {
      machines,
      machineConfigurations: configs.machineConfigurations,
      credentials,
      parallel: apply.parallel,
      retry: { ...apply, cap: apply.maxDelay },
      deadline: timeouts.stages,
    },
    { dependsOn: [fit] },
  );
  // What every later proof stands on: the machines, and the configs that they run.
  const ground = [...identities, ...configurations.hashes];
  const staged = talos.stages([configurations], ground);

  const controlPlanes = machines.filter(({ role }) => role === "controlplane");
  const [first] = controlPlanes;
  if (first === undefined) throw new Error("there is no control plane"); // a rule says it before
  const bootstrap = new Bootstrap(
    name,
    { controlPlanes, credentials, deadline: timeouts.etcd },
    { dependsOn: [staged] },
  );
  const members = new Members(
    name,
    { machines, credentials, drainDeadline: timeouts.drain, deadline: timeouts.stages },
    { dependsOn: [staged, bootstrap] },
  );
  const quorum = talos.etcd([members], ground);
  const healthy = talos.services([quorum], ground);

  const access = new Kubeconfig(
    name,
    {
      ...{ controlPlane: first.reach, clientConfiguration },
      ...{ renewDays: config.clientCertificateDays, deadline: timeouts.kubeconfig },
    },
    { dependsOn: [healthy] },
  );
  const shown = deployEndpoint({
    ...{ config, first, access, credentials, clusterIdentifier, gates, ground },
    ...{ after: healthy, deletedWith: bootstrap },
  });
  const server = pulumi.interpolate`https://${platform.endpoint}:6443`;
  const kubeconfig = access.at(server, [shown]);
  const kubernetes = gates.onKubernetes(kubeconfig, ground);
  const serving = kubernetes.api([shown], [server, ...ground]);
  const joined = kubernetes.joined([serving], ground);

  deployPlatform({
    config,
    kubeconfig,
    clusterIdentifier,
    hcloud: platform.hcloud,
    proxmoxCsi: platform.proxmoxCsi,
    after: [joined],
    deletedWith: bootstrap,
    gate: kubernetes.platform,
  });

  watchCertificates(config, { credentials, kubeconfig });
  const { reports } = gates;
  return { ...outputs, endpoint: server, kubeconfig, gates: reports, gitOpsRevision: gitOpsRevision(reports) };
}
