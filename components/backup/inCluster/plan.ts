import type { S3Place } from "../../api/s3Api.ts";
import type { ClusterRecord } from "../manifest.ts";

/** What the program in the cluster reads from its ConfigMap. It has no secret. */
export interface InClusterPlan {
  readonly s3: S3Place;
  /** Where the cluster's backups are in the bucket. */
  readonly prefix: string;
  readonly recipients: readonly string[];
  readonly keep: number;
  readonly cluster: ClusterRecord;
}

/** Where the pod finds everything. */
export const inClusterFiles = {
  plan: "/backup/plan.json",
  /** Encrypted for the same recipients. */
  secrets: "/backup/secrets.yaml.age",
  /** Talos writes this Secret. */
  talosconfig: "/var/run/secrets/talos.dev/config",
  temporary: "/tmp",
} as const;
