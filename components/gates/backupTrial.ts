// Proves that the cluster can take backups by itself: a Job from the CronJob's own template takes one, and is deleted again. The backup stays.
import type { KubernetesCredentials } from "../kubernetes/observe.ts";
import type { Condition } from "../waiting/condition.ts";
import type { BackupTrialObservation } from "./backup/tryBackup.ts";
import type { GateCheck } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { lazily } from "./lazily.ts";

export function backupTrial(credentials: KubernetesCredentials): GateCheck<unknown, BackupTrialObservation> {
  return {
    name: "BackupFresh",
    timeoutCode: "SLU-B112",
    conditions: () => [apiAnswers, taken, gone],
    observe: (_, signal, clock) =>
      lazily(async () => (await import("./backup/tryBackup.ts")).tryBackup(credentials, signal, clock)),
    evidence: () => ({ trial: "a pod has taken a backup" }),
  };
}

const taken: Condition<BackupTrialObservation> = {
  phrase: "a pod of the CronJob to take a backup",
  evaluate({ used, trouble, progress }) {
    if (used) return [];
    if (progress?.isFailed) return [{ kind: "failed", where: "Job", reason: progress.reason, code: "SLU-B112" }];
    return [{ kind: "pending", where: "Job", reason: trouble ?? progress?.reason ?? "does not exist" }];
  },
};

const gone: Condition<BackupTrialObservation> = {
  phrase: "the Job of the trial to be removed again",
  evaluate: ({ progress, trouble }) =>
    progress === undefined
      ? []
      : [{ kind: "pending", reason: `still there${trouble === undefined ? "" : ` (${trouble})`}` }],
};
