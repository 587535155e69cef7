import "./stacks/plainStackTraces.ts";
import * as pulumi from "@pulumi/pulumi";
import { isInMaintenance } from "./components/talos/client/isInMaintenance.ts";
import { deployCluster } from "./stacks/cluster.ts";
import { loadStackConfig } from "./stacks/config/configFile.ts";
import { judgedVariable, remarksOf } from "./stacks/config/remarks.ts";
import { previewPlatform } from "./stacks/previewPlatform.ts";
import { previewRestore } from "./stacks/previewRestore.ts";

const config = loadStackConfig(pulumi.getStack());
const isPreview = pulumi.runtime.isDryRun();
const unjudged =
  isPreview && process.env[judgedVariable] === undefined
    ? await (await import("./scripts/render/plainPulumi.ts")).judgeConfigs(config, pulumi.getStack())
    : undefined;
const { warnings, notes } = remarksOf(config, pulumi.getStack(), { isPreview, unjudged }, process.env);
for (const warning of warnings) await pulumi.log.warn(warning);
for (const note of notes) await pulumi.log.info(note);
const [cluster] = await Promise.all([
  deployCluster(config, { isInMaintenance, run: new Date().toISOString(), previewRestore }),
  isPreview ? previewPlatform(config, pulumi.getStack()) : undefined,
]);

export const endpoint = cluster.endpoint;
export const schematicId = cluster.schematicId;
export const nodes = cluster.nodes;
export const kubeconfig = cluster.kubeconfig;
export const talosconfig = cluster.talosconfig;
export const clientCertificateDaysLeft = cluster.clientCertificateDaysLeft;
export const gates = cluster.gates;
export const gitOpsRevision = cluster.gitOpsRevision ?? null; // the engine warns of what is undefined
