import { text } from "../model/untyped.ts";
import type { Condition, Verdict } from "../waiting/condition.ts";
import {
  type BackupFreshInputs,
  type BackupsObservation,
  endOf,
  jobReason,
  type NewestBackup,
} from "./backup/backupViews.ts";
import { backupTrial } from "./backupTrial.ts";
import type { BackupFacts, ClusterFacts } from "./clusterFacts.ts";
import type { GateDefinition } from "./gateDefinition.ts";
import { apiAnswers } from "./kubernetes/apiAnswers.ts";
import { lazily } from "./lazily.ts";

type Facts = Pick<ClusterFacts, "kubeconfig"> & { readonly backups: BackupFacts };

/** There is a backup that could be restored: recent, of this cluster, readable, and for the current keys. */
export const backupFresh: GateDefinition<BackupFreshInputs, BackupsObservation, Facts> = {
  name: "BackupFresh",
  timeoutCode: "SLU-B111",
  resource: "backup-fresh",
  proves: "there is a recent backup that can be read",
  opensWhen:
    "the newest backup in the target is not older than `backup.maxAgeHours`, is of this cluster, is encrypted for `ageRecipients` and is what was stored (with an age identity in the environment it is also decrypted and opened); with `backup.schedule`, the CronJob exists, its last run succeeded, and a trial of it has taken a backup",
  timeout: { key: "backup", seconds: 300 },
  canFlap: false,
  part: "backups",
  inputs: ({ backups: { place, clusterId, recipients, maxAgeHours, schedule } }) => ({
    ...{ place, clusterId, recipients, maxAgeHours },
    ...(schedule !== undefined && { schedule }),
  }),
  credentials: ({ backups, kubeconfig }) => ({ ...backups.credentials, kubeconfig }),
  triggers: ({ backups }) => backups.triggers,
  conditions: ({ schedule, ...wanted }) => [
    answers,
    isRecent(wanted),
    isWhole,
    isOfCluster(wanted),
    ...(schedule === undefined ? [] : [reached, isScheduled(schedule), lastRunSucceeded]),
  ],
  observe: (inputs, signal, clock) =>
    lazily(async () => (await import("./backup/watchBackups.ts")).watchBackups(inputs, signal, clock)),
  evidence: ({ target }, { place, schedule }) => {
    const newest = target?.kind === "read" ? target.newest : undefined;
    const proof = newest !== undefined && "proof" in newest ? newest.proof : "";
    const where = place.s3 === undefined ? (place.folder ?? "") : `s3://${place.s3.bucket}/${place.s3.prefix}`;
    return { target: `${where}/${place.clusterName}`, proof, ...(schedule !== undefined && { schedule }) };
  },
  trial: (inputs) => (inputs.schedule === undefined ? undefined : backupTrial(inputs.credentials)),
  words: ({ proof, schedule }) =>
    `${proofWords[text(proof)] ?? "there is one"}${schedule === undefined ? "" : `, taken at ${text(schedule)}`}`,
};

const proofWords: Readonly<Record<string, string>> = {
  listed: "newest listed",
  compared: "newest compared with its manifest",
  opened: "newest decrypted and opened",
};

const answers: Condition<BackupsObservation> = {
  phrase: "the backup target to answer",
  evaluate({ target }) {
    if (target === undefined) return [{ kind: "pending", reason: "is being read", unseen: true }];
    return target.kind === "read" ? [] : [{ kind: "pending", reason: target.why, unseen: true, code: "SLU-B102" }];
  },
};

function isRecent({ maxAgeHours }: Pick<BackupFreshInputs, "maxAgeHours">): Condition<BackupsObservation> {
  return {
    phrase: `the newest backup to be at most ${maxAgeHours} hours old`,
    evaluate: onNewest((newest, nowMs) => {
      if (newest === undefined) return [{ kind: "pending", reason: "there is no backup" }];
      if (!("manifest" in newest)) return [];
      const hours = (nowMs - Date.parse(newest.manifest.takenAt)) / 3_600_000;
      return hours <= maxAgeHours
        ? []
        : [{ kind: "pending", where: newest.name, reason: `is the newest, and is ${Math.floor(hours)} hours old` }];
    }),
  };
}

const isWhole: Condition<BackupsObservation> = {
  phrase: "the newest backup to be what was stored",
  evaluate: onNewest((newest) =>
    newest !== undefined && "damage" in newest ? [{ kind: "pending", where: newest.name, reason: newest.damage }] : [],
  ),
};

function isOfCluster({
  clusterId,
  recipients,
}: Pick<BackupFreshInputs, "clusterId" | "recipients">): Condition<BackupsObservation> {
  return {
    phrase: "the newest backup to be of this cluster, and for its age public keys",
    evaluate: onNewest((newest) => {
      if (newest === undefined || !("manifest" in newest)) return [];
      const { cluster, recipients: used } = newest.manifest;
      const isSame = (one: readonly string[], other: readonly string[]) => one.every((key) => other.includes(key));
      const reasons = [
        ...(cluster.id === clusterId ? [] : [`is of another cluster, whose name is ${cluster.name} too`]),
        ...(isSame(used, recipients) && isSame(recipients, used)
          ? []
          : ["is encrypted for other age public keys than those in ageRecipients"]),
      ];
      return reasons.map((reason): Verdict => ({ kind: "pending", where: newest.name, reason }));
    }),
  };
}

/** Nothing, while the target was not read. */
function onNewest(judge: (newest: NewestBackup | undefined, nowMs: number) => readonly Verdict[]) {
  return ({ target }: BackupsObservation): readonly Verdict[] =>
    target?.kind === "read" ? judge(target.newest, target.nowMs) : [];
}

const reached: Condition<BackupsObservation> = {
  phrase: apiAnswers.phrase,
  evaluate: ({ cluster }) =>
    cluster === undefined ? [{ kind: "pending", reason: "is being read", unseen: true }] : apiAnswers.evaluate(cluster),
};

function isScheduled(schedule: string): Condition<BackupsObservation> {
  return {
    phrase: "the cluster to take backups by itself",
    evaluate({ cluster }) {
      const job = cluster?.cronJobs[0];
      if (job === undefined) return [{ kind: "pending", where: "CronJob", reason: "does not exist" }];
      if (job.spec.suspend) return [{ kind: "pending", where: "CronJob", reason: "is suspended" }];
      return job.spec.schedule === schedule
        ? []
        : [{ kind: "pending", where: "CronJob", reason: `runs at '${job.spec.schedule}', not at '${schedule}'` }];
    },
  };
}

const lastRunSucceeded: Condition<BackupsObservation> = {
  phrase: "the last scheduled backup to have succeeded",
  evaluate({ cluster }) {
    if (cluster === undefined) return [];
    const own = cluster.jobs.filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === "CronJob"));
    const finished = own
      .filter((job) => endOf(job) !== undefined)
      .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""));
    const last = finished.at(-1);
    if (last === undefined || endOf(last) === "Complete") return [];
    return [{ kind: "pending", where: `Job ${last.metadata.name}`, reason: jobReason(last, cluster) }];
  },
};
