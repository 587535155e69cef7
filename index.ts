import "./stacks/plainStacks.ts";
import { deployCluster } from "./stacks/cluster.ts";
import { loadClusterConfig } from "./stacks/config.ts";

const cluster = deployCluster(loadClusterConfig());

export const endpoint = cluster.endpoint;
export const schematicId = cluster.schematicId;
export const nodes = cluster.nodes;
export const kubeconfig = cluster.kubeconfig;
export const talosconfig = cluster.talosconfig;
export const clientCertificateDaysLeft = cluster.clientCertificateDaysLeft;
export const machineConfigurations = cluster.machineConfigurations;
export const gates = cluster.gates;
export const gitOpsRevision = cluster.gitOpsRevision ?? null; // the engine warns of what is undefined
