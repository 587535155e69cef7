// What a preview says of a restore that would happen: by then nothing has been created.
import * as pulumi from "@pulumi/pulumi";
import type { Restore } from "../components/backup/restore.ts";
import { secretsMissing } from "../components/backup/restoreJudgement.ts";
import { chooseBackup, neededIdentities, type RestorePlan } from "../components/backup/restorePoint.ts";
import { SluiceError } from "../components/errors/sluiceError.ts";
import { systemClock } from "../components/waiting/clock.ts";
import { withDeadline } from "../components/waiting/deadline.ts";
import type { ClusterConfig } from "./schema/clusterConfig.ts";
import type { ClusterSecrets } from "./talosStages.ts";

/** A preview must stay fast where nothing answers. */
const deadlineSeconds = 3;

export interface PreviewedRestore {
  readonly config: Pick<ClusterConfig, "machineSecrets">;
  readonly restore: Restore;
  readonly plan: pulumi.Output<RestorePlan>;
  readonly machineSecrets: ClusterSecrets["machineSecrets"];
}

export type PreviewRestore = (restore: PreviewedRestore) => void;

/** Ends the preview with what the restore would fail with. A stack that has the Restore has its cluster: the engine shows what becomes of it. */
export function previewRestore({ config, restore, plan, machineSecrets }: PreviewedRestore): void {
  const isThere = isKnown(machineSecrets);
  pulumi.output(isThere).apply((known) => {
    if (!known && config.machineSecrets === undefined) throw new pulumi.RunError(secretsMissing().message);
  });
  plan.apply(async (known) => {
    if (await isKnown(restore.id)) return;
    const line = await restoreLine(known).catch((error) => {
      if (error instanceof SluiceError) throw new pulumi.RunError(error.message);
      throw error;
    });
    await pulumi.log.info(line);
  });
}

/** Rejects if the restore would fail; a target that does not answer now may answer then. */
export async function restoreLine(plan: RestorePlan, clock = systemClock): Promise<string> {
  await neededIdentities();
  const late = () =>
    new SluiceError({ code: "SLU-B102", seen: `the backup target did not answer within ${deadlineSeconds} s` });
  try {
    const { name, manifest, target } = await withDeadline(
      clock,
      deadlineSeconds * 1000,
      chooseBackup(plan, clock),
      late,
    );
    const { takenAt, cluster, etcd } = manifest;
    return `if no control plane has an etcd, the cluster is restored from the backup ${name} of ${target.title}: taken at ${takenAt}, Kubernetes ${cluster.kubernetesVersion}, Talos ${cluster.talosVersion}, etcd revision ${etcd.revision} with ${etcd.records} records`;
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "SLU-B102") throw error;
    return `if no control plane has an etcd, the cluster is restored from ${plan.from}, which could not be read now: ${error.seen}`;
  }
}

/** Whether a preview knows the value: it does not know that of a resource which does not exist yet. */
function isKnown(output: pulumi.Output<unknown>): Promise<boolean> {
  return (output as unknown as { readonly isKnown: Promise<boolean> }).isKnown;
}
