// What `restoreFrom` adds to the chain: etcd begins with a backup, and what the snapshot has of machines that are gone is deleted.
import * as pulumi from "@pulumi/pulumi";
import { Restore, type RestoredFrom } from "../components/backup/restore.ts";
import type { RestorePlan } from "../components/backup/restorePoint.ts";
import type { ClusterFacts } from "../components/gates/clusterFacts.ts";
import { StaleNodes } from "../components/lifecycle/staleNodes.ts";
import type { AppliedMachineConfigs } from "../components/talos/nodes/appliedMachineConfigs.ts";
import { backupPlace } from "./backups.ts";
import type { After } from "./gateChain.ts";
import { hasBackups } from "./parts/clusterParts.ts";
import type { PlatformMachines } from "./platforms/platformResources.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import type { ClusterSecrets, LiveNodes } from "./talosStages.ts";

/** A restore that the environment declares. */
export interface DeclaredRestore {
  readonly plan: pulumi.Output<RestorePlan>;
  readonly restored: pulumi.Output<RestoredFrom | undefined>;
  /** What the bootstrap waits for. */
  readonly done: After;
}

/** Before the bootstrap. Undefined without `restoreFrom`. */
export function restoreEtcd(
  config: ClusterConfig,
  { machines }: PlatformMachines,
  secrets: ClusterSecrets,
  { rejoined }: AppliedMachineConfigs,
  { previewRestore }: Pick<LiveNodes, "previewRestore">,
  after: After,
): DeclaredRestore | undefined {
  const { clusterName, talosVersion, kubernetesVersion, restoreFrom: from, timeouts } = config;
  if (from === undefined) return undefined;
  const place = hasBackups(config) ? backupPlace(config) : undefined;
  const plan = pulumi.secret(
    secrets.clusterIdentifier.apply(
      (id): RestorePlan => ({ from, cluster: { id, talosVersion, kubernetesVersion }, ...(place && { place }) }),
    ),
  );
  const controlPlanes = machines.filter(({ role }) => role === "controlplane");
  const { credentials } = secrets;
  const restore = new Restore(
    clusterName,
    { controlPlanes, credentials, plan, rejoined, deadlineSeconds: timeouts.bootstrap },
    { dependsOn: [...after] },
  );
  if (pulumi.runtime.isDryRun()) previewRestore?.({ config, restore, plan, machineSecrets: secrets.machineSecrets });
  return { plan, restored: restore.restored, done: [...after, restore] };
}

/** Before the nodes are compared with the environment. Returns what the next stage waits for. */
export function deleteStaleNodes(
  { clusterName, timeouts }: ClusterConfig,
  restore: DeclaredRestore | undefined,
  { machines }: PlatformMachines,
  { expectedNodes, kubeconfig, talos: credentials }: Pick<ClusterFacts, "expectedNodes" | "kubeconfig" | "talos">,
  after: After,
): After {
  if (restore === undefined) return after;
  const { plan, restored } = restore;
  const nodes = pulumi
    .all([expectedNodes, Object.fromEntries(machines.map(({ name, talosAddress }) => [name, talosAddress]))])
    .apply(([all, addresses]) => all.map((node) => ({ ...node, talosAddress: addresses[node.name] ?? "" })));
  const deadlineSeconds = timeouts.leave;
  const args = { nodes, restored, plan, credentials, kubeconfig, deadlineSeconds };
  return [...after, new StaleNodes(clusterName, args, { dependsOn: [...after] })];
}
