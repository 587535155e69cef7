import "./stacks/plainStackTraces.ts";
import * as pulumi from "@pulumi/pulumi";
import { isInMaintenance } from "./components/talos/client/isInMaintenance.ts";
import { deployCluster } from "./stacks/cluster.ts";
import { loadStackConfig } from "./stacks/config/configFile.ts";
import { remarksOf } from "./stacks/config/remarks.ts";
import { previewPlatform } from "./stacks/previewPlatform.ts";

const config = loadStackConfig(pulumi.getStack());
const { warnings, notes } = remarksOf(config, pulumi.getStack(), pulumi.runtime.isDryRun(), process.env);
for (const warning of warnings) await pulumi.log.warn(warning);
for (const note of notes) await pulumi.log.info(note);
const [cluster] = await Promise.all([
  deployCluster(config, { isInMaintenance, run: new Date().toISOString() }),
  pulumi.runtime.isDryRun() ? previewPlatform(config, pulumi.getStack()) : undefined,
]);

export const endpoint = cluster.endpoint;
export const schematicId = cluster.schematicId;
export const nodes = cluster.nodes;
export const kubeconfig = cluster.kubeconfig;
export const talosconfig = cluster.talosconfig;
export const clientCertificateDaysLeft = cluster.clientCertificateDaysLeft;
export const gates = cluster.gates;
export const gitOpsRevision = cluster.gitOpsRevision ?? null; // the engine warns of what is undefined
