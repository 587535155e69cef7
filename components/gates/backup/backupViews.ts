// The inputs and the observations of the gate BackupFresh.
import type { S3Credentials } from "../../api/s3Api.ts";
import type { BackupManifest } from "../../backup/manifest.ts";
import type { TargetPlace } from "../../backup/openTarget.ts";
import type { KubernetesEvent, KubernetesObject, Pod } from "../../kubernetes/objects.ts";
import type { Observed } from "../../kubernetes/observe.ts";
import { podReason } from "../../kubernetes/podReason.ts";

export interface BackupFreshInputs {
  readonly place: Omit<TargetPlace, "credentials">;
  /** As in the machine secrets. */
  readonly clusterId: string;
  readonly recipients: readonly string[];
  readonly maxAgeHours: number;
  /** If set, the cluster takes backups by itself. */
  readonly schedule?: string;
  readonly credentials: Partial<S3Credentials> & { readonly kubeconfig: string };
}

interface CronJob extends KubernetesObject {
  readonly spec: {
    readonly schedule: string;
    readonly suspend?: boolean;
    readonly jobTemplate: { readonly spec: object };
  };
  readonly status?: { readonly lastScheduleTime?: string; readonly lastSuccessfulTime?: string };
}

interface Job extends KubernetesObject {
  readonly status?: {
    readonly succeeded?: number;
    readonly failed?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

export type CronJobKinds = { cronJobs: CronJob; jobs: Job; pods: Pod; events: KubernetesEvent };

/** The newest complete backup. */
export type NewestBackup =
  | {
      readonly name: string;
      readonly manifest: BackupManifest;
      /** `listed`: it is too large to be downloaded each time. */
      readonly proof: "listed" | "compared" | "opened";
    }
  | { readonly name: string; readonly damage: string };

export interface BackupsObservation {
  readonly target?:
    | { readonly kind: "read"; readonly newest: NewestBackup | undefined; readonly nowMs: number }
    | { readonly kind: "unread"; readonly why: string };
  /** Only where the cluster takes backups. */
  readonly cluster?: Observed<CronJobKinds>;
}

/** How a job has ended. */
export function endOf({ status }: Job): "Complete" | "Failed" | undefined {
  const found = status?.conditions?.find(({ type, status: is }) => is === "True" && /^(Complete|Failed)$/.test(type));
  return found?.type as "Complete" | "Failed" | undefined;
}

/** Why a job has not succeeded, in the words of its last pod. */
export function jobReason(
  { metadata, status }: Job,
  { pods, events }: Pick<Observed<CronJobKinds>, "pods" | "events">,
): string {
  const own = pods
    .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""));
  const last = own.at(-1);
  const failed = status?.conditions?.find(({ type }) => type === "Failed");
  const words = last && (terminatedWords(last) ?? podReason(last, events)?.reason);
  return words ?? failed?.message ?? "has no pod yet";
}

/** The last lines of the log of a container that failed. */
function terminatedWords({ status }: Pod): string | undefined {
  const ended = status?.containerStatuses
    ?.map(({ state }) => state?.terminated)
    .find((one) => (one?.exitCode ?? 0) !== 0);
  return ended?.message?.trim();
}
