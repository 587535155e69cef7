// Starts a Job as the CronJob would, observes it, and deletes it again.
import { backupName, backupNamespace } from "../../backup/inClusterNames.ts";
import { changeObject } from "../../kubernetes/changeObject.ts";
import { KubernetesClient } from "../../kubernetes/client.ts";
import { type KubernetesCredentials, type Observed, observe } from "../../kubernetes/observe.ts";
import type { Clock } from "../../waiting/clock.ts";
import { type Tried, tryObjects } from "../kubernetes/tryObjects.ts";
import { backupPaths } from "./backupPaths.ts";
import { type CronJobKinds, endOf, jobReason } from "./backupViews.ts";

type Seen = Observed<CronJobKinds>;

export type BackupTrialObservation = Seen &
  Tried & {
    /** What the Job does, while it exists. */
    readonly progress?: { readonly reason: string; readonly isFailed: boolean } | undefined;
  };

const trialName = `${backupName}-trial`;
const jobs = `/apis/batch/v1/namespaces/${backupNamespace}/jobs`;

export async function* tryBackup(
  { kubeconfig }: KubernetesCredentials,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<BackupTrialObservation> {
  const client = new KubernetesClient(kubeconfig, clock);
  const observations = observe<CronJobKinds>({ kubeconfig }, backupPaths, signal, clock);
  const objects = {
    presence(seen: Seen) {
      const job = trialIn(seen);
      if (job === undefined) return "absent" as const;
      return job.metadata.deletionTimestamp === undefined ? ("present" as const) : ("leaving" as const);
    },
    async make({ cronJobs: [cronJob] }: Seen, until: AbortSignal) {
      if (cronJob === undefined) return "the CronJob does not exist";
      const { template, ...spec } = cronJob.spec.jobTemplate.spec as { readonly template: PodTemplate };
      const body = {
        ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: trialName } },
        spec: { ...spec, backoffLimit: 0, template: withReason(template) },
      };
      return failureOf(changeObject(client, "POST", jobs, { signal: until, body }));
    },
    // Its pods go with it.
    remove: () => failureOf(changeObject(client, "DELETE", `${jobs}/${trialName}?propagationPolicy=Background`)),
    isUsed(seen: Seen) {
      const job = trialIn(seen);
      return job !== undefined && endOf(job) === "Complete";
    },
  };
  for await (const seen of tryObjects<Seen>(objects, observations, signal, clock)) {
    const job = trialIn(seen);
    const progress = job && { reason: jobReason(job, seen), isFailed: endOf(job) === "Failed" };
    yield { ...seen, ...(progress !== undefined && { progress }) };
  }
}

function trialIn({ jobs: all }: Seen) {
  return all.find(({ metadata }) => metadata.name === trialName);
}

interface PodTemplate {
  readonly spec: { readonly containers: readonly { readonly env?: readonly object[] }[] };
}

/** In the manifest it differs from a scheduled backup. */
function withReason(template: PodTemplate): object {
  const { spec } = template;
  const containers = spec.containers.map((container) => ({
    ...container,
    env: [...(container.env ?? []), { name: "REASON", value: "as a trial of the schedule" }],
  }));
  return { ...template, spec: { ...spec, containers } };
}

async function failureOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
